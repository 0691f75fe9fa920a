// Stands for NVIDIA's management library, with two GPUs: number 1 is "GPU-one" at 0000:01:00.0, always 73 % busy, and number 0
// does not tell how busy it is.

#include <cstring>

extern "C" {

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

static int devices[2];  // only their addresses matter
static int users = 0;

int nvmlInit_v2() {
  ++users;
  return 0;
}

int nvmlShutdown() {
  --users;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (users == 0) return 1;
  if (index > 1) return 2;
  *device = &devices[index];
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  return std::strcmp(bus_id, "0000:01:00.0") == 0 ? nvmlDeviceGetHandleByIndex_v2(1, device) : 2;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return std::strcmp(uuid, "GPU-one") == 0 ? nvmlDeviceGetHandleByIndex_v2(1, device) : 2;
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
  if (device != &devices[1]) return 3;
  *rates = {73, 40};
  return 0;
}

}  // extern "C"
