# The modules of OpenMRC and the only arrows allowed between them.
#
# This table is the one place where dependencies are written: the build links by it, and
# tests/arrows compares every #include under src/ with it. "A: B C" means that A may include B and C.
set(MRC_ARROWS
  "base:"
  "wire: base"
  "engine: base wire"
  "pair: base wire engine"
  "nic: base wire engine"
  "port: base wire"
  "http: base port"
  "datapath: base wire engine nic port"
  "topo: base wire"
  "fabric: base wire"
  "sim: base wire engine nic topo fabric"
  "scenario: base wire engine nic topo fabric sim"
  "node: base wire engine nic port datapath topo http"
  "lib: base wire engine nic port datapath node http"
  "conform: base wire engine nic port datapath"
  "verbs: base wire engine nic port datapath node lib"
  "lab: base wire port topo fabric node"
  "view: base wire engine nic port topo fabric sim scenario node lab"
  "web: base port http topo view node"
  "map: base wire engine port topo node"
  "daemon: base wire engine nic port datapath topo node lib map http"
  "nccl: base"
  "collective: base"
  "tools: base wire engine pair nic port datapath topo fabric sim scenario node lib verbs lab map collective http conform view web"
)

# mrc_module(NAME [WHOLE] [LINK libs...] [TEST_LINK libs...])
# Builds src/NAME/*.cc as the static library mrc_NAME, and src/NAME/*_test.cc as the test NAME_test.
# A main.cc is a program's, never the library's.
# WHOLE: compiled as one unit. On the way of every packet, calls between files cost as much as what they call; and
# position-independent code may only be inlined when nobody can put another function in its place.
function(mrc_module name)
  cmake_parse_arguments(ARG "WHOLE" "" "LINK;TEST_LINK" ${ARGN})
  set(deps "")
  foreach(arrow IN LISTS MRC_ARROWS)
    if(arrow MATCHES "^${name}:(.*)$")
      string(STRIP "${CMAKE_MATCH_1}" deps)
      separate_arguments(deps)
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")

  if(sources)
    add_library(mrc_${name} STATIC ${sources})
    set(scope PUBLIC)
    if(ARG_WHOLE)
      set_target_properties(mrc_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
      set_source_files_properties(testing.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # or libmrc would ship it
      target_compile_options(mrc_${name} PRIVATE -fno-semantic-interposition)
    endif()
  else()
    add_library(mrc_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(mrc_${name} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(mrc_${name} ${scope} ${ARG_LINK})
  foreach(dep IN LISTS deps)
    if(TARGET mrc_${dep})
      target_link_libraries(mrc_${name} ${scope} mrc_${dep})
    endif()
  endforeach()

  if(tests)
    mrc_test(${name}_test SOURCES ${tests} LINK mrc_${name} ${ARG_TEST_LINK})
  endif()
endfunction()

# Defines MRC_SOURCE_DIR and MRC_BIN_DIR, as string literals, in the files that name them. Not in all: an absolute path on the
# command line would keep ccache from sharing objects between two clones. After a first use in a file: `cmake --preset dev`.
function(mrc_paths_for)
  foreach(source IN LISTS ARGN)
    get_filename_component(source ${source} ABSOLUTE)
    file(STRINGS ${source} uses REGEX "MRC_(SOURCE|BIN)_DIR" LIMIT_COUNT 1)
    if(uses)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
        MRC_SOURCE_DIR="${PROJECT_SOURCE_DIR}" MRC_BIN_DIR="${PROJECT_BINARY_DIR}/bin")
    endif()
  endforeach()
endfunction()

# Before the command of a test that uses a network.
set(MRC_ALONE ${PROJECT_SOURCE_DIR}/tests/alone)

# mrc_test(NAME SOURCES files... [LINK libs...] [LABELS labels...]): one GoogleTest program, one ctest entry.
function(mrc_test name)
  if(NOT MRC_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  mrc_paths_for(${ARG_SOURCES})
  add_test(NAME ${name} COMMAND ${MRC_ALONE} $<TARGET_FILE:${name}>)
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
endfunction()

# mrc_script_test(NAME SCRIPT [ARGS args...] [LABELS labels...]): one ctest entry that runs a Python script.
# The script finds the source tree in MRC_SOURCE_DIR and the programs in MRC_BIN_DIR.
function(mrc_script_test name script)
  if(NOT MRC_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "ARGS;LABELS" ${ARGN})
  add_test(NAME ${name}
           COMMAND ${MRC_ALONE} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}"
    ENVIRONMENT "MRC_SOURCE_DIR=${PROJECT_SOURCE_DIR};MRC_BIN_DIR=${PROJECT_BINARY_DIR}/bin;PYTHONDONTWRITEBYTECODE=1")
endfunction()
