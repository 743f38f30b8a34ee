# At installation: cuts the debug information out of `files` into the place where debuggers look for it by build id. What was
# built without any has none.
foreach(file IN LISTS files)
  execute_process(COMMAND ${readelf} --wide --notes --sections ${file} OUTPUT_VARIABLE told COMMAND_ERROR_IS_FATAL ANY)
  if(NOT told MATCHES "Build ID: ([0-9a-f][0-9a-f])([0-9a-f]+)")
    message(FATAL_ERROR "${file} has no build id: its debug information would not be found")
  endif()
  set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/debug/.build-id/${CMAKE_MATCH_1}")
  set(name "${CMAKE_MATCH_2}.debug")
  if(NOT told MATCHES "\\.debug_info")
    message(STATUS "No debug information in ${file}")
    continue()
  endif()
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${objcopy} --only-keep-debug --compress-debug-sections ${file} ${folder}/${name}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD ${folder}/${name} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
