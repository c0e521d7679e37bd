// A store whose operator is ignored, twice.
__global__ void k(int *a) { __stwt(a + threadIdx.x, 1); __stwt(a + 32 + threadIdx.x, 2); }
int main() { int *a; return cudaMalloc(&a, 256) || (k<<<1, 32>>>(a), cudaDeviceSynchronize()); }
