# `ninja bundle` makes ${PROJECT_BINARY_DIR}/mkernel-<version>-linux-<cpu>.tar.xz:
# tools, libraries and examples for machines that have neither LLVM nor this
# tree. Nothing is compiled for it: the objects of the build are linked once
# more, LLVM and MLIR statically into the one libmkernel_jit.so, libstdc++,
# zlib, zstd and OpenSSL's libcrypto statically into whatever uses them.
#
#   mkernel_bundle_program(TARGET [INTO folder] [ARCHIVES static-target...])
#
# adds an executable target of the build; ARCHIVES are its static libraries
# other than those of the runtime.
include_guard(GLOBAL)
find_package(Threads REQUIRED)

set(bundle_name mkernel-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(bundle_linked ${PROJECT_BINARY_DIR}/bundle/linked)
set(bundle_stage ${PROJECT_BINARY_DIR}/bundle/${bundle_name})
set(bundle_archive ${PROJECT_BINARY_DIR}/${bundle_name}.tar.xz)

# Static archives of what Debian's -dev packages have in both kinds.
set(bundle_missing "")
foreach(name crypto z zstd)
  find_library(MKERNEL_STATIC_${name} lib${name}.a)
  mark_as_advanced(MKERNEL_STATIC_${name})
  if(NOT MKERNEL_STATIC_${name})
    list(APPEND bundle_missing lib${name}.a)
  endif()
endforeach()
find_program(MKERNEL_LLD NAMES ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR})
if(NOT MKERNEL_LLD)
  list(APPEND bundle_missing ld.lld)
endif()
find_program(MKERNEL_XZ xz)
if(NOT MKERNEL_XZ)
  list(APPEND bundle_missing xz)
endif()
if(NOT EXISTS ${LLVM_LIBRARY_DIR}/libMLIRIR.a)
  list(APPEND bundle_missing libMLIR*.a)
endif()
if(bundle_missing)
  list(JOIN bundle_missing ", " bundle_missing)
  message(STATUS "There is no target 'bundle': ${bundle_missing} not found")
  function(mkernel_bundle_program)
  endfunction()
  function(mkernel_add_bundle)
  endfunction()
  return()
endif()
get_filename_component(bundle_lld_folder ${MKERNEL_LLD} DIRECTORY)

add_library(bundle-options INTERFACE)
target_link_options(bundle-options INTERFACE
  -fuse-ld=lld -B${bundle_lld_folder} -static-libstdc++
  LINKER:--gc-sections,-O1,-s,-z,defs,--build-id=sha1)

# What is linked for the bundle knows its own libraries by their place in it.
# It is called <name>.bundle until scripts/make-bundle copies it there: names of
# targets and files are commands of Ninja, and the build's own keep theirs.
function(bundle_target_properties target name folder rpath)
  set_target_properties(${target} PROPERTIES
    EXCLUDE_FROM_ALL ON LINKER_LANGUAGE CXX
    PREFIX "" OUTPUT_NAME ${name} SUFFIX .bundle NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY ${bundle_linked}/${folder}
    RUNTIME_OUTPUT_DIRECTORY ${bundle_linked}/${folder}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${rpath}")
  if(name MATCHES "[.]so$")
    target_link_options(${target} PRIVATE LINKER:-soname,${name})
  endif()
  target_link_libraries(${target} PRIVATE bundle-options)
  set_property(GLOBAL APPEND PROPERTY MKERNEL_BUNDLE_TARGETS ${target})
endfunction()

add_library(bundle-runtime SHARED $<TARGET_OBJECTS:mkernel_runtime>)
bundle_target_properties(bundle-runtime libmkernel_runtime.so lib "\$ORIGIN")
# Its own symbols are public; those of what is linked into it are not.
target_link_options(bundle-runtime PRIVATE LINKER:--exclude-libs,ALL)
target_link_libraries(bundle-runtime PRIVATE
  mkernel_check ${MKERNEL_STATIC_crypto} Threads::Threads ${CMAKE_DL_LIBS})

# Initialisers of LLVM's targets that are not linked in: lld and MLIR call those
# of all targets that their LLVM was built with.
set(linked_targets X86 NVPTX)
set(stubs "/* Generated: targets of LLVM that the bundle does without. */\n")
foreach(target ${LLVM_TARGETS_TO_BUILD} M68k Xtensa SPIRV)
  if(NOT target IN_LIST linked_targets)
    foreach(part Target TargetInfo TargetMC AsmPrinter AsmParser Disassembler)
      string(APPEND stubs "void LLVMInitialize${target}${part}(void);\n"
                          "void LLVMInitialize${target}${part}(void) {}\n")
    endforeach()
    list(APPEND linked_targets ${target})
  endif()
endforeach()
# Reached by link-time optimisation only, which objects of ours never ask for.
string(APPEND stubs "void _Z18getPollyPluginInfov(void);\n"
                    "void _Z18getPollyPluginInfov(void) { __builtin_trap(); }\n")
set(stubs_file ${PROJECT_BINARY_DIR}/cmake/TargetStubs.c)
file(CONFIGURE OUTPUT ${stubs_file} CONTENT "${stubs}")
set_source_files_properties(${stubs_file} PROPERTIES
  COMPILE_OPTIONS -ffunction-sections)

# MLIR's exported CMake targets ask for libLLVM.so: archives by their names.
file(GLOB mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
list(FILTER mlir_archives EXCLUDE REGEX "libMLIR(CAPI|Test|.*Python)")
execute_process(
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libnames
          nvptx x86 orcjit passes lto dtlto
  OUTPUT_VARIABLE llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_archives NATIVE_COMMAND "${llvm_archives}")
list(FILTER llvm_archives EXCLUDE REGEX Polly)
list(TRANSFORM llvm_archives PREPEND ${LLVM_LIBRARY_DIR}/)
get_property(own_libraries GLOBAL PROPERTY MKERNEL_COMPILER_LIBRARIES)
list(APPEND own_libraries mkernel_check) # without LLVM, and used by MkVerify
set(own_archives "")
foreach(library ${own_libraries})
  list(APPEND own_archives $<TARGET_FILE:${library}>)
endforeach()

set(bundle_map ${PROJECT_SOURCE_DIR}/lib/JIT/exports-bundle.map)
add_library(bundle-jit SHARED ${stubs_file} $<TARGET_OBJECTS:mkernel_jit>)
bundle_target_properties(bundle-jit libmkernel_jit.so lib "\$ORIGIN")
add_dependencies(bundle-jit ${own_libraries})
# -u: mk-opt's main function, which nothing in here calls.
target_link_options(bundle-jit PRIVATE
  LINKER:--version-script=${bundle_map} LINKER:-u,mk_opt_main
  $<TARGET_PROPERTY:MkTargetHost,INTERFACE_LINK_OPTIONS>)
set_property(TARGET bundle-jit APPEND PROPERTY LINK_DEPENDS
             ${bundle_map} ${own_archives})
target_link_libraries(bundle-jit PRIVATE bundle-runtime
  -Wl,--start-group ${own_archives} ${mlir_archives} ${llvm_archives}
  ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a
  -Wl,--end-group ${MKERNEL_STATIC_z} ${MKERNEL_STATIC_zstd}
  m Threads::Threads ${CMAKE_DL_LIBS})

function(mkernel_bundle_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INTO" "ARCHIVES")
  if(NOT arg_INTO)
    set(arg_INTO bin)
  endif()
  string(REGEX REPLACE "[^/]+" ".." up ${arg_INTO})
  add_executable(bundle-${target} $<TARGET_OBJECTS:${target}>)
  bundle_target_properties(bundle-${target} ${target} ${arg_INTO}
                           "\$ORIGIN/${up}/lib")
  foreach(archive ${arg_ARCHIVES})
    add_dependencies(bundle-${target} ${archive})
    set_property(TARGET bundle-${target} APPEND PROPERTY LINK_DEPENDS
                 $<TARGET_FILE:${archive}>)
    target_link_libraries(bundle-${target} PRIVATE $<TARGET_FILE:${archive}>)
  endforeach()
  target_link_libraries(bundle-${target} PRIVATE
    bundle-runtime Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

mkernel_bundle_program(mk-run ARCHIVES mk-run-support mkernel_check)
mkernel_bundle_program(mk-info)
mkernel_bundle_program(mkernel-proxy-speed)
mkernel_bundle_program(example-gemm-cpp)
mkernel_bundle_program(example-gemm-c)
mkernel_bundle_program(example-ag-gemm)
mkernel_bundle_program(mk-opt)
target_link_libraries(bundle-mk-opt PRIVATE bundle-jit)

# Called when all programs have been added.
function(mkernel_add_bundle)
  get_property(targets GLOBAL PROPERTY MKERNEL_BUNDLE_TARGETS)
  set(programs "")
  foreach(target ${targets})
    list(APPEND programs $<TARGET_FILE:${target}>)
  endforeach()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/examples/* ${PROJECT_SOURCE_DIR}/docs/*
       ${PROJECT_SOURCE_DIR}/dialects/*.td ${PROJECT_SOURCE_DIR}/dialects/*.md
       ${PROJECT_SOURCE_DIR}/share/mkernel/* ${PROJECT_SOURCE_DIR}/test/gpu/*
       ${PROJECT_SOURCE_DIR}/tools/mk-bench/*
       ${PROJECT_SOURCE_DIR}/include/mkernel/*.h ${PROJECT_SOURCE_DIR}/include/mkernel/*.def)
  list(FILTER files EXCLUDE REGEX /__pycache__/)
  add_custom_command(OUTPUT ${bundle_archive}
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/make-bundle ${PROJECT_SOURCE_DIR}
            ${PROJECT_BINARY_DIR} ${bundle_linked} ${bundle_stage}
            ${bundle_archive} ${MKERNEL_HEADERS}
    DEPENDS ${targets} ${programs} ${files}
            ${PROJECT_SOURCE_DIR}/scripts/make-bundle
            ${PROJECT_SOURCE_DIR}/scripts/test-gpu
            ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
    USES_TERMINAL VERBATIM)
  add_custom_target(bundle DEPENDS ${bundle_archive})
  set(MKERNEL_BUNDLE ${bundle_archive} PARENT_SCOPE) # for tests
endfunction()
