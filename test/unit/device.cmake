# Tests of runtime/device.
list(APPEND unit_sources
  FastestTest.cpp
  KernelTest.cpp
  LaunchesTest.cpp
  NetFaultTest.cpp
  RegionTest.cpp
  StallsTest.cpp
  SymmetricMemoryTest.cpp
  cuda/DriverTest.cpp
  cuda/EnginesTest.cpp
  cuda/FastestTest.cpp
  cuda/GpuHeapTest.cpp
  cuda/LaunchTest.cpp
  cuda/ModuleTest.cpp
  cuda/NetworkTest.cpp
  cuda/PackTest.cpp
  cuda/ParamsTest.cpp
  cuda/PeersTest.cpp
  cuda/RandomTest.cpp
  cuda/ReportTest.cpp
  cuda/TensorMapTest.cpp)

add_subdirectory(cuda)
add_compile_definitions(
  MK_TEST_FAKE_CUDA="$<TARGET_FILE:fake-cuda>"
  MK_TEST_FAKE_PTXAS="${CMAKE_CURRENT_SOURCE_DIR}/cuda/fake-ptxas"
  MK_TEST_OLD_CUDA="$<TARGET_FILE:old-cuda>")

# The declarations against the real ones, where they are installed.
find_path(MKERNEL_CUDA_INCLUDE cuda.h
  PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES include)
if(MKERNEL_CUDA_INCLUDE)
  list(APPEND unit_sources cuda/LayoutTest.cpp)
  set_source_files_properties(cuda/LayoutTest.cpp PROPERTIES
    COMPILE_OPTIONS "-isystem;${MKERNEL_CUDA_INCLUDE}")
endif()
