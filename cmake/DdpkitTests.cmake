# ddpkit_unit_tests(<layer> [LIBRARIES <lib>...] [UNITY] [TIMEOUT s]): one program out of tests/unit/<layer>/*_test.cpp, run once.
# ddpkit_mpi_tests(<layer> ...): one program out of tests/mpi/<layer>/*_mpi_test.cpp, run on 1, 2, 3 and 4 ranks.
# Programs are registered with CTest, not cases: each process that loads LibTorch costs 0.35 s.

set(DDPKIT_MPIEXEC_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1   # CI containers run as root
  OMPI_MCA_rmaps_base_oversubscribe=1                          # four ranks on two cores
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1                               # or waiting ranks starve the working ones
  OMPI_MCA_btl_vader_single_copy_mechanism=none                # containers forbid it, with a warning
  OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp)

function(_ddpkit_test_program target)
  cmake_parse_arguments(ARG "UNITY" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/src")
  target_compile_options(${target} PRIVATE -O1 -Wno-missing-field-initializers)
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
  ddpkit_warnings(${target})
  if(ARG_UNITY)
    ddpkit_unity(${target})
  endif()
endfunction()

function(ddpkit_unit_tests layer)
  cmake_parse_arguments(ARG "UNITY" "TIMEOUT" "LIBRARIES;SOURCES" ${ARGN})
  file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/${layer}/*_test.cpp")
  if(NOT _sources)
    return()
  endif()
  if(ARG_UNITY)
    set(_unity UNITY)
  else()
    set(_unity)
  endif()
  _ddpkit_test_program(unit_${layer} ${_unity} SOURCES ${_sources} ${ARG_SOURCES} LIBRARIES ${ARG_LIBRARIES} ddpkit_test_main)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_test(NAME unit.${layer} COMMAND unit_${layer})
  set_tests_properties(unit.${layer} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS unit ENVIRONMENT OMP_NUM_THREADS=1)
endfunction()

function(ddpkit_mpi_tests layer)
  cmake_parse_arguments(ARG "UNITY" "TIMEOUT" "LIBRARIES" ${ARGN})
  file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/mpi/${layer}/*_mpi_test.cpp")
  if(NOT _sources OR NOT DDPKIT_HAVE_MPI)
    return()
  endif()
  set(_unity)
  if(ARG_UNITY)
    set(_unity UNITY)
  endif()
  _ddpkit_test_program(mpi_${layer} ${_unity} SOURCES ${_sources} LIBRARIES ${ARG_LIBRARIES} ddpkit_test_mpi_main)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 180)  # ample: a busy machine slows waiting ranks tenfold
  endif()
  foreach(_ranks IN ITEMS 1 2 3 4)
    ddpkit_add_mpirun_test(mpi.${layer}.np${_ranks} RANKS ${_ranks} TIMEOUT ${ARG_TIMEOUT} COMMAND mpi_${layer})
  endforeach()
endfunction()

# One CTest entry that starts a program under mpirun.
function(ddpkit_add_mpirun_test name)
  cmake_parse_arguments(ARG "" "RANKS;TIMEOUT" "COMMAND" ${ARGN})
  list(POP_FRONT ARG_COMMAND _program)
  add_test(NAME ${name}
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ARG_RANKS} $<TARGET_FILE:${_program}> ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS mpi PROCESSORS ${ARG_RANKS}
    ENVIRONMENT "OMP_NUM_THREADS=1;${DDPKIT_MPIEXEC_ENVIRONMENT}")
endfunction()
