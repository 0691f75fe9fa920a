# FindLibTorch: LibTorch out of a pip wheel or a libtorch archive, without the wheel's own TorchConfig.cmake, which is fatal on a
# machine without a CUDA toolkit and adds GPU architectures that a newer nvcc refuses.
#
# The first of these wins: LibTorch_ROOT or Torch_ROOT (variable, then environment), Torch_DIR, CMAKE_PREFIX_PATH (variable, then
# environment; a prefix or torch.utils.cmake_prefix_path), <ddpkit>/.deps, $VIRTUAL_ENV, LibTorch_FALLBACK (where an installed
# ddpkit was built), python3 on PATH.
#
# Targets: LibTorch::cpu; LibTorch::gomp where the wheel brings it; LibTorch::cuda and LibTorch::nccl where the wheel and a toolkit
# allow. A later find_package(Torch) in the same project does no harm.

set(_candidates ${LibTorch_ROOT} $ENV{LibTorch_ROOT} ${Torch_ROOT} $ENV{Torch_ROOT})
if(Torch_DIR)
  list(APPEND _candidates "${Torch_DIR}/../../..")
endif()
string(REPLACE ":" ";" _environment_prefixes "$ENV{CMAKE_PREFIX_PATH}")
foreach(_prefix IN LISTS CMAKE_PREFIX_PATH _environment_prefixes)
  file(GLOB _in_venv "${_prefix}/lib/python3*/site-packages/torch")
  list(APPEND _candidates "${_prefix}" "${_prefix}/../.." ${_in_venv})
endforeach()
file(GLOB _in_venv
  "${CMAKE_CURRENT_LIST_DIR}/../.deps/libtorch/lib/python3*/site-packages/torch"
  "$ENV{VIRTUAL_ENV}/lib/python3*/site-packages/torch")
list(APPEND _candidates ${_in_venv} ${LibTorch_FALLBACK})

set(_probe share/cmake/Torch/TorchConfig.cmake)
find_path(LibTorch_PREFIX ${_probe} HINTS ${_candidates} NO_DEFAULT_PATH DOC "Folder with LibTorch's include/ and lib/")
if(NOT LibTorch_PREFIX)
  find_program(LibTorch_PYTHON NAMES python3 python)
  if(LibTorch_PYTHON)
    # find_spec does not import torch, which would take seconds and needs all its dependencies.
    execute_process(COMMAND "${LibTorch_PYTHON}" -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE _in_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_path(LibTorch_PREFIX ${_probe} HINTS ${_in_python} NO_DEFAULT_PATH)
  endif()
endif()
if(LibTorch_PREFIX)
  get_filename_component(LibTorch_PREFIX "${LibTorch_PREFIX}" REALPATH)
  file(STRINGS "${LibTorch_PREFIX}/share/cmake/Torch/TorchConfigVersion.cmake" _version_line REGEX "PACKAGE_VERSION \"")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" LibTorch_VERSION "${_version_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_PREFIX VERSION_VAR LibTorch_VERSION HANDLE_VERSION_RANGE
  REASON_FAILURE_MESSAGE
  "run scripts/test or scripts/quickstart, which install it below .deps, or point CMAKE_PREFIX_PATH at a LibTorch you have")

function(_libtorch_import name)
  set(_file "${LibTorch_PREFIX}/lib/lib${name}.so")
  if(EXISTS "${_file}")
    add_library(LibTorch::${name} SHARED IMPORTED)
    set_target_properties(LibTorch::${name} PROPERTIES IMPORTED_LOCATION "${_file}" IMPORTED_SONAME "lib${name}.so")
  endif()
endfunction()

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  foreach(_name IN ITEMS c10 torch_cpu c10_cuda torch_cuda)
    _libtorch_import(${_name})
  endforeach()
  # LibTorch's own threads come from it. Two such runtimes in one process would be twice the threads.
  if(EXISTS "${LibTorch_PREFIX}/lib/libgomp.so.1")
    add_library(LibTorch::gomp SHARED IMPORTED)
    set_target_properties(LibTorch::gomp PROPERTIES
      IMPORTED_LOCATION "${LibTorch_PREFIX}/lib/libgomp.so.1" IMPORTED_SONAME libgomp.so.1)
  endif()
  add_library(LibTorch::cpu INTERFACE IMPORTED)
  set_target_properties(LibTorch::cpu PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_PREFIX}/include;${LibTorch_PREFIX}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS USE_DISTRIBUTED # as the wheel was built: without it one class has another size
    INTERFACE_LINK_LIBRARIES "LibTorch::torch_cpu;LibTorch::c10")

  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND TARGET LibTorch::torch_cuda)
    add_library(LibTorch::cuda INTERFACE IMPORTED)
    # torch_cuda registers itself when loaded: keep it, although nothing refers to it.
    set_target_properties(LibTorch::cuda PROPERTIES
      INTERFACE_LINK_LIBRARIES "LibTorch::cpu;LibTorch::c10_cuda;CUDA::cudart"
      INTERFACE_LINK_OPTIONS
      "LINKER:--push-state,--no-as-needed,${LibTorch_PREFIX}/lib/libtorch_cuda.so,--pop-state;LINKER:--allow-shlib-undefined")
    find_path(NCCL_INCLUDE_DIR nccl.h HINTS "${LibTorch_PREFIX}/../nvidia/nccl/include" ${CUDAToolkit_INCLUDE_DIRS})
    find_library(NCCL_LIBRARY NAMES libnccl.so.2 nccl
      HINTS "${LibTorch_PREFIX}/../nvidia/nccl/lib" "${CUDAToolkit_LIBRARY_DIR}")
    if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
      add_library(LibTorch::nccl UNKNOWN IMPORTED)
      set_target_properties(LibTorch::nccl PROPERTIES
        IMPORTED_LOCATION "${NCCL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR}")
    endif()
  endif()
endif()
