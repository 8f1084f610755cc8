//===- Site.h - What a report about an op names -----------------*- C -*-===//
//
// An op that is checked when it runs has a number, its site, counted through the
// kernel. The code of a package has sites only, so that it does not depend on where
// in its file a kernel stands; metadata `sites` (Package.h) says which op is meant.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ABI_SITE_H
#define MKERNEL_ABI_SITE_H

// What an op names of which an index or a range lies outside.
enum mk_named {
  MK_READ_ARGUMENT = 1,
  MK_WRITTEN_ARGUMENT = 2,
  MK_USED_SIGNAL = 3,
  MK_USED_COUNTER = 4,
  MK_FULL_QUEUE = 5, // the index is that of the record
  MK_READ_QUEUE = 6, // the same, of one that is taken
};

#endif // MKERNEL_ABI_SITE_H
