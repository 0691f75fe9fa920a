# ddpkit_library(<name> LAYERS <layer>... [SOURCES <file>...]): the library ddpkit::<name> made of whole layers. Every header in
# include/ddpkit/<layer> is public, every source directly in src/<layer> belongs to it.
function(ddpkit_library name)
  cmake_parse_arguments(ARG "" "" "LAYERS;SOURCES" ${ARGN})
  set(_headers)
  set(_sources)
  foreach(_layer IN LISTS ARG_LAYERS)
    file(GLOB _found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/ddpkit/${_layer}/*.hpp")
    list(APPEND _headers ${_found})
    file(GLOB _found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${_layer}/*.cpp")
    list(APPEND _sources ${_found})
  endforeach()
  add_library(ddpkit_${name} ${_sources} ${ARG_SOURCES})
  add_library(ddpkit::${name} ALIAS ddpkit_${name})
  target_sources(ddpkit_${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${_headers})
  target_include_directories(ddpkit_${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_features(ddpkit_${name} PUBLIC cxx_std_20)
  ddpkit_warnings(ddpkit_${name})
  set_target_properties(ddpkit_${name} PROPERTIES
    EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    CXX_EXTENSIONS OFF DEFINE_SYMBOL "" VERIFY_INTERFACE_HEADER_SETS ${DDPKIT_VERIFY_HEADERS} INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
endfunction()

# Up to five sources of a folder at a time: one parse of LibTorch's headers costs more than all of our code, and a new file
# moves only the sources of its own folder.
function(ddpkit_unity target)
  get_target_property(_sources ${target} SOURCES)
  foreach(_source IN LISTS _sources)
    cmake_path(GET _source PARENT_PATH _folder)
    string(MAKE_C_IDENTIFIER "count ${_folder}" _count)
    math(EXPR _batch "0${${_count}} / 5")
    math(EXPR ${_count} "0${${_count}} + 1")
    cmake_path(GET _folder FILENAME _name)
    set_source_files_properties("${_source}" PROPERTIES UNITY_GROUP ${_name}_${_batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DDPKIT_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

function(ddpkit_warnings target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wno-missing-field-initializers>)
  if(DDPKIT_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  endif()
endfunction()
