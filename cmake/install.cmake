# What an installation has, by package: `cmake --install build` puts all of it under the prefix, `cpack` makes Debian packages
# and a tarball of it. Everything lies relative to everything else, so that a tarball works wherever it is unpacked.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # packages hold no tests: don't build them first
set(private_libraries lib/openmrc)         # where `mrc exec` looks, beside bin

# libmrc: the library under its public name, and the soft libibverbs in a folder of its own, never in the way of the machine's.
install(TARGETS mrc_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libmrc NAMELINK_COMPONENT libmrc-dev)
install(TARGETS ibverbs LIBRARY DESTINATION ${private_libraries} COMPONENT libmrc NAMELINK_SKIP)
file(RELATIVE_PATH up /${private_libraries} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(ibverbs PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")

# libmrc-dev: headers, the names that existing programs link against, pkg-config and CMake package.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libmrc-dev FILES_MATCHING PATTERN "*.h")
foreach(alias libnv_mrc.so lib_mrc.so)
  install(FILES ${PROJECT_BINARY_DIR}/lib/openmrc/${alias} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libmrc-dev)
endforeach()
configure_file(cmake/openmrc.pc.in ${PROJECT_BINARY_DIR}/openmrc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/openmrc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libmrc-dev)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/openmrc)
configure_package_config_file(cmake/openmrc-config.cmake.in ${PROJECT_BINARY_DIR}/openmrc-config.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/openmrc-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/openmrc-config.cmake ${PROJECT_BINARY_DIR}/openmrc-config-version.cmake
        DESTINATION ${package_folder} COMPONENT libmrc-dev)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT libmrc-dev
        FILES_MATCHING PATTERN "*.c")

# openmrc-tools: the command, the daemon where there is one, and its unit.
install(TARGETS mrc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT openmrc-tools)
install(CODE "execute_process(COMMAND \"$<TARGET_FILE:mrc>\" manual man --to
                \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\" COMMAND_ERROR_IS_FATAL ANY)
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/bash-completion/completions\")
  execute_process(COMMAND \"$<TARGET_FILE:mrc>\" manual completion bash COMMAND_ERROR_IS_FATAL ANY
                  OUTPUT_FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/bash-completion/completions/mrc\")"
        COMPONENT openmrc-tools)
if(TARGET mrcd)
  install(TARGETS mrcd RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR} COMPONENT openmrc-tools)
  find_program(HELP2MAN help2man)
  if(HELP2MAN)
    install(CODE "set(pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man8\")
  file(MAKE_DIRECTORY \"\${pages}\")
  execute_process(COMMAND ${HELP2MAN} --no-info --section 8 --name \"the daemon of an MRC node\" --output \"\${pages}/mrcd.8\"
                    \"$<TARGET_FILE:mrcd>\" COMMAND_ERROR_IS_FATAL ANY)"
            COMPONENT openmrc-tools)
  endif()
endif()
install(DIRECTORY share/grafana DESTINATION share/openmrc COMPONENT openmrc-tools)
file(GLOB_RECURSE units ${PROJECT_SOURCE_DIR}/share/*.service ${PROJECT_SOURCE_DIR}/share/*.socket)
if(units)
  install(FILES ${units} DESTINATION lib/systemd/system COMPONENT openmrc-tools)
endif()

# openmrc-nccl: the plugin, where NCCL's and RCCL's loaders find it by name.
if(TARGET nccl_net)
  install(TARGETS nccl_net LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT openmrc-nccl)
  install(FILES ${PROJECT_BINARY_DIR}/lib/openmrc/librccl-net-openmrc.so DESTINATION ${CMAKE_INSTALL_LIBDIR}
          COMPONENT openmrc-nccl)
endif()

# openmrc-dbgsym: the debug information of all of them, which packages and tarball themselves do without.
set(debugged)
foreach(target mrc_shared ibverbs mrc mrcd nccl_net)
  if(TARGET ${target})
    list(APPEND debugged $<TARGET_FILE:${target}>)
  endif()
endforeach()
install(CODE "set(files \"${debugged}\")
  set(readelf \"${CMAKE_READELF}\")
  set(objcopy \"${CMAKE_OBJCOPY}\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/debug_files.cmake\")"
        COMPONENT openmrc-dbgsym EXCLUDE_FROM_ALL)

# Packages: `cpack -G DEB` and `cpack -G TGZ` in the build folder.
set(CPACK_PACKAGE_NAME openmrc)
set(CPACK_PACKAGE_CONTACT "OpenMRC maintainers <maintainers@openmrc.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Multipath Reliable Connection in software")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL libmrc libmrc-dev openmrc-tools openmrc-nccl openmrc-dbgsym)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/openmrc)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_LIBMRC_PACKAGE_NAME libmrc)
set(CPACK_DEBIAN_LIBMRC_DESCRIPTION "libmrc and the soft verbs device
 Programs written for MRC network cards run with it on any Linux machine.")
set(CPACK_DEBIAN_LIBMRC-DEV_PACKAGE_NAME libmrc-dev)
set(CPACK_DEBIAN_LIBMRC-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBMRC-DEV_PACKAGE_DEPENDS "libmrc (= ${PROJECT_VERSION}), libibverbs-dev")
set(CPACK_DEBIAN_LIBMRC-DEV_DESCRIPTION "headers, pkg-config and CMake files, examples of libmrc")
set(CPACK_DEBIAN_OPENMRC-TOOLS_PACKAGE_NAME openmrc-tools)
set(CPACK_DEBIAN_OPENMRC-TOOLS_PACKAGE_DEPENDS "libmrc (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_OPENMRC-TOOLS_DESCRIPTION "the mrc command: lab, simulator, measurements, captures
 and the daemon that keeps a node's paths.")
set(CPACK_DEBIAN_OPENMRC-NCCL_PACKAGE_NAME openmrc-nccl)
set(CPACK_DEBIAN_OPENMRC-NCCL_PACKAGE_DEPENDS "libmrc (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_OPENMRC-NCCL_DESCRIPTION "network plugin of NCCL and RCCL over MRC")
set(CPACK_DEBIAN_OPENMRC-DBGSYM_PACKAGE_NAME openmrc-dbgsym)
set(CPACK_DEBIAN_OPENMRC-DBGSYM_PACKAGE_SECTION debug)
set(CPACK_DEBIAN_OPENMRC-DBGSYM_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_OPENMRC-DBGSYM_PACKAGE_DEPENDS "libmrc (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_OPENMRC-DBGSYM_DESCRIPTION "debug information of libmrc, mrc, mrcd and the plugin of NCCL
 Debuggers and profilers find it by the build id of what they look at.")
include(CPack)
