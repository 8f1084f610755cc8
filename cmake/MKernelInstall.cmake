# `cmake --install`: headers, libraries, programs, examples, and a CMake package,
#   find_package(mKernel COMPONENTS runtime jit)
# with the targets mKernel::runtime and mKernel::jit.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/mKernel)
set(data_folder ${CMAKE_INSTALL_DATADIR}/mkernel)
# The compiler looks for its tuning files at ../share beside itself.
file(RELATIVE_PATH libraries_from_programs
     ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

function(mkernel_install_targets rpath)
  foreach(target ${ARGN})
    if(TARGET ${target})
      # Libraries of LLVM stay where they were found.
      set_target_properties(${target} PROPERTIES
        INSTALL_RPATH "${rpath}" INSTALL_RPATH_USE_LINK_PATH ON)
      install(TARGETS ${target})
    endif()
  endforeach()
endfunction()
mkernel_install_targets("\$ORIGIN" mkernel_jit)
mkernel_install_targets("\$ORIGIN/${libraries_from_programs}"
  mk-run mk-info mk-opt mk-bench mk-lsp-server mk-reduce)
install(TARGETS mkernel_runtime EXPORT mKernelTargets
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Headers that need no MLIR; those of the compiler are in Compiler, Dialect and Target.
# Bundles have the same.
set(MKERNEL_HEADERS ABI C Check JIT Options Runtime)
foreach(folder ${MKERNEL_HEADERS})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mkernel/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mkernel)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/include/mkernel/Version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mkernel)
install(FILES ${PROJECT_BINARY_DIR}/include/mkernel/ABI/Hash.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mkernel/ABI)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${data_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT mKernelTargets NAMESPACE mKernel:: DESTINATION ${cmake_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mKernelConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/mKernelConfig.cmake
  INSTALL_DESTINATION ${cmake_folder}
  PATH_VARS CMAKE_INSTALL_LIBDIR data_folder)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/mKernelConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/mKernelConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/mKernelConfigVersion.cmake
  DESTINATION ${cmake_folder})
