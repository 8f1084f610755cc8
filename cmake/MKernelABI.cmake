# Hashes the text of the ABI headers into ${PROJECT_BINARY_DIR}/include/mkernel/ABI/Hash.h.
file(GLOB abi_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/mkernel/ABI/*.h)
list(SORT abi_headers)
set(abi_text "")
foreach(header ${abi_headers})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(SHA256 ${header} digest)
  get_filename_component(name ${header} NAME)
  string(APPEND abi_text "${name} ${digest}\n")
endforeach()
string(SHA256 MKERNEL_ABI_HASH "${abi_text}")
string(REGEX REPLACE "(..)" "0x\\1, " abi_bytes "${MKERNEL_ABI_HASH}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/mkernel/ABI/Hash.h CONTENT
"// Generated from the text of include/mkernel/ABI. Do not edit.
#ifndef MKERNEL_ABI_HASH_H
#define MKERNEL_ABI_HASH_H
#define MK_ABI_HASH_HEX \"${MKERNEL_ABI_HASH}\"
#define MK_ABI_HASH_BYTES {${abi_bytes}}
#endif
" @ONLY)
