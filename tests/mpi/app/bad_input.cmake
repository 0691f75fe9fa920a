# A training program that is given bad input: how the job ends, with which status and which words.
_ddpkit_test_program(trial_program SOURCES support/trial_program.cpp LIBRARIES ddpkit::train)
add_test(NAME mpi.app.bad_input
  COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/mpi/app/bad_input_test.py" $<TARGET_FILE:trial_program>
    ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})
set_tests_properties(mpi.app.bad_input PROPERTIES TIMEOUT 240 LABELS mpi PROCESSORS 2
  ENVIRONMENT "OMP_NUM_THREADS=1;${DDPKIT_MPIEXEC_ENVIRONMENT}")
