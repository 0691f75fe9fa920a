# ddpkit::cuda: NCCL and our own kernels, for programs that run on GPUs and say so by linking it. Programs for CPUs never load
# the CUDA libraries.

# Without Torch, and without the CUDA and NCCL libraries, so that tests link it with stand-ins.
file(GLOB _sources CONFIGURE_DEPENDS comm/nccl/*.cpp cuda/plain/*.cpp)
add_library(ddpkit_nccl_objects OBJECT ${_sources})
target_include_directories(ddpkit_nccl_objects PRIVATE "${PROJECT_SOURCE_DIR}/src")
target_include_directories(ddpkit_nccl_objects SYSTEM PUBLIC "${NCCL_INCLUDE_DIR}" ${CUDAToolkit_INCLUDE_DIRS})
target_compile_options(ddpkit_nccl_objects PRIVATE -Wconversion -Wno-sign-conversion)
target_link_libraries(ddpkit_nccl_objects PUBLIC ddpkit::core)
ddpkit_warnings(ddpkit_nccl_objects)
set_target_properties(ddpkit_nccl_objects PROPERTIES CXX_EXTENSIONS OFF)

ddpkit_library(cuda LAYERS cuda SOURCES cuda/scale_kernel.cu cuda/update_kernel.cu $<TARGET_OBJECTS:ddpkit_nccl_objects>)
target_include_directories(ddpkit_cuda SYSTEM PRIVATE "${NCCL_INCLUDE_DIR}")
target_link_libraries(ddpkit_cuda PUBLIC ddpkit::train LibTorch::cuda PRIVATE LibTorch::nccl)
set_target_properties(ddpkit_cuda PROPERTIES
  CUDA_STANDARD 17  # CMake 3.25 knows no later one for this compiler
  CUDA_RUNTIME_LIBRARY Shared)
# Rounded as on the host.
set_source_files_properties(cuda/update_kernel.cu PROPERTIES COMPILE_OPTIONS -fmad=false)
target_sources(ddpkit_cuda INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src/cuda/link/anchor.cpp>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_DATADIR}/ddpkit/cuda_anchor.cpp>)
if(DDPKIT_INSTALL)
  install(FILES cuda/link/anchor.cpp DESTINATION "${CMAKE_INSTALL_DATADIR}/ddpkit" RENAME cuda_anchor.cpp)
endif()
