# Tests of runtime/device.
list(APPEND unit_sources
  KernelTest.cpp
  RegionTest.cpp)
