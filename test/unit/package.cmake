# Tests of runtime/package and of the parts of mk-run.
list(APPEND unit_sources
  CapacityTest.cpp
  CheckTest.cpp
  ElementTypeTest.cpp
  MetadataTest.cpp
  NpyTest.cpp
  OptionsTest.cpp
  PackageTest.cpp
  PlanTest.cpp
  RandomTest.cpp
  SelfTestReportTest.cpp
  TimelineTest.cpp
  VersionsTest.cpp)
link_libraries(mk-run-support)
add_compile_definitions(
  MK_TEST_PACKAGES="${PROJECT_BINARY_DIR}/test/Integration/runtime")
