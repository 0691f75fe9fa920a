#include "place.hpp"

#include <c10/cuda/CUDAFunctions.h>

namespace bench {

void synchronize(const Place& place) {
  if (!place.rehearsal()) c10::cuda::device_synchronize();
}

}  // namespace bench
