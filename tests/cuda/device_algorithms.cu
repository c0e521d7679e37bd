/* SPDX-License-Identifier: MIT */
/* CUB's device-wide algorithms, compared with loops on the host. Templates: they are compiled into the program. */
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include <cub/cub.cuh>

static int failures;

template <typename T> static void compare(const char *what, const std::vector<T> &want, const T *device)
{
	std::vector<T> got(want.size());

	cudaMemcpy(got.data(), device, want.size() * sizeof(T), cudaMemcpyDeviceToHost);
	if (got != want)
		printf("FAIL %s\n", what);
	failures += got != want;
}

template <typename T> static T *on_device(const std::vector<T> &values)
{
	T *to;

	cudaMalloc(&to, values.size() * sizeof(T));
	cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
	return to;
}

/* Calls an algorithm twice: for the room it needs, and to run it. */
template <typename Algorithm> static void run(const char *what, Algorithm algorithm)
{
	size_t bytes = 0;
	void *room = nullptr;

	algorithm(room, bytes);
	cudaMalloc(&room, bytes + 1);
	algorithm(room, bytes);
	if (cudaDeviceSynchronize() != cudaSuccess) {
		printf("FAIL %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
		failures++;
	}
	cudaFree(room);
}

int main()
{
	const int n = 5000;
	std::vector<unsigned> keys(n);
	std::vector<int> values(n);
	unsigned state = 12345;

	for (int i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		keys[i] = state >> 8 & 0xfff;
		values[i] = (int)(state >> 20) - 2048;
	}
	unsigned *d_keys = on_device(keys), *d_keys_out = on_device(keys);
	int *d_values = on_device(values), *d_out = on_device(values), *d_n = on_device(std::vector<int>(1));

	run("Sum", [&](void *room, size_t &bytes) { cub::DeviceReduce::Sum(room, bytes, d_values, d_n, n); });
	compare("Sum", {std::accumulate(values.begin(), values.end(), 0)}, d_n);

	run("ExclusiveSum", [&](void *room, size_t &bytes) { cub::DeviceScan::ExclusiveSum(room, bytes, d_values, d_out, n); });
	std::vector<int> sums(n);
	for (int i = 1; i < n; i++)
		sums[i] = sums[i - 1] + values[i - 1];
	compare("ExclusiveSum", sums, d_out);

	run("SortPairs", [&](void *room, size_t &bytes) {
		cub::DeviceRadixSort::SortPairs(room, bytes, d_keys, d_keys_out, d_values, d_out, n);
	});
	std::vector<int> order(n), sorted_values(n);
	std::vector<unsigned> sorted_keys(n);
	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
	for (int i = 0; i < n; i++) {
		sorted_keys[i] = keys[order[i]];
		sorted_values[i] = values[order[i]];
	}
	compare("SortPairs, keys", sorted_keys, d_keys_out);
	compare("SortPairs, values", sorted_values, d_out);
	printf(failures ? "FAIL: %d differ\n" : "PASS\n", failures);
	return failures > 0;
}
