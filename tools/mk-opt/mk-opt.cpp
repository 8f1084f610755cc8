//===- mk-opt.cpp - Passes and pipelines on the command line --------------===//

// In a build this is linked in; in a bundle it is in libmkernel_jit.so, so that
// LLVM is there only once.
extern "C" int mk_opt_main(int argc, char **argv);

int main(int argc, char **argv) { return mk_opt_main(argc, argv); }
