# The program and the run file that README.md shows, as they stand there: they compile, and two steps run.
set(_readme "${PROJECT_SOURCE_DIR}/README.md")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_readme}")

function(_readme_block language file)
  file(READ "${_readme}" _text)
  string(FIND "${_text}" "```${language}\n" _begin)
  string(LENGTH "```${language}\n" _mark)
  math(EXPR _begin "${_begin} + ${_mark}")
  string(SUBSTRING "${_text}" ${_begin} -1 _text)
  string(FIND "${_text}" "```" _end)
  string(SUBSTRING "${_text}" 0 ${_end} _text)
  file(CONFIGURE OUTPUT "${file}" CONTENT "${_text}" @ONLY)
endfunction()

_readme_block(cpp "${CMAKE_CURRENT_BINARY_DIR}/readme/program.cpp")
_readme_block(yaml "${CMAKE_CURRENT_BINARY_DIR}/readme/run.yaml")
add_executable(readme_program "${CMAKE_CURRENT_BINARY_DIR}/readme/program.cpp")
target_link_libraries(readme_program PRIVATE ddpkit::ddpkit)
ddpkit_warnings(readme_program)
ddpkit_add_mpirun_test(readme RANKS 2 TIMEOUT 60
  COMMAND readme_program train --config "${CMAKE_CURRENT_BINARY_DIR}/readme/run.yaml"
    --set run.steps=2 --set "run.dir=${CMAKE_CURRENT_BINARY_DIR}/readme/runs")
