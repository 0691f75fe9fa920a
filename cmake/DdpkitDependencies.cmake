# Everything ddpkit links against, found here and nowhere else. third_party/README.md says what each is for.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # a project that adds this folder links them through our targets
find_package(Threads REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(XxHash REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
if(NOT TARGET yaml-cpp::yaml-cpp)  # 0.7 exports the bare name
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

set(DDPKIT_HAVE_MPI OFF)
if(NOT DDPKIT_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  set(DDPKIT_HAVE_MPI ${MPI_CXX_FOUND})
endif()
if(DDPKIT_MPI STREQUAL "ON" AND NOT DDPKIT_HAVE_MPI)
  message(FATAL_ERROR "DDPKIT_MPI=ON but no MPI was found; install libopenmpi-dev or set DDPKIT_MPI=AUTO")
endif()

find_package(LibTorch 2.11 REQUIRED)

set(DDPKIT_HAVE_CUDA OFF)
if(NOT DDPKIT_CUDA STREQUAL "OFF" AND TARGET LibTorch::cuda AND TARGET LibTorch::nccl)
  set(CMAKE_CUDA_ARCHITECTURES ${DDPKIT_CUDA_ARCHITECTURES})
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # A find_package(Torch) before us appends every architecture the wheel knows, some of which this nvcc refuses.
    string(REGEX REPLACE "-gencode [^ ]+" "" CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS}")
    set(DDPKIT_HAVE_CUDA ON)
  endif()
endif()
if(DDPKIT_CUDA STREQUAL "ON" AND NOT DDPKIT_HAVE_CUDA)
  message(FATAL_ERROR "DDPKIT_CUDA=ON but the CUDA toolkit, NCCL or a CUDA build of LibTorch is missing")
endif()

message(STATUS "ddpkit: LibTorch ${LibTorch_VERSION}; MPI backend ${DDPKIT_HAVE_MPI}; NCCL backend and CUDA part ${DDPKIT_HAVE_CUDA}")
