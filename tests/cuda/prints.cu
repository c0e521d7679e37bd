/* SPDX-License-Identifier: MIT */
#include <cstdio>
struct wide { double d; long long l; };
__global__ void k(const char *given, int n) {
	int got = printf("%d|%-5u|%05x|%c|%s|%.3f|%lld|%hd|%%|%8s|%*d|%llu\n", -3, 7u, 0xabc, 'q', given, 2.5, -5000000000ll,
			 (short)-2, "right", 4, n, 18446744073709551615ull);
	if (threadIdx.x % 2) printf("lane %d took %d\n", threadIdx.x, got);
	printf("no arguments\n");
}
__global__ void missing() { printf("%d\n"); }
int main(int argc, char **) {
	char *t; cudaMallocManaged(&t, 16); snprintf(t, 16, "managed");
	if (argc > 1) missing<<<1, 1>>>();
	printf("before\n");
	k<<<1, 2>>>(t, 42);
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	return 0;
}
