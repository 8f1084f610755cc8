//===- Guarded.cpp - The compiler does not end its process ----------------===//
//
// Compiled with exceptions, unlike everything else here: the handlers below throw through frames of
// LLVM, whose tables say how to unwind them although they have nothing to clean up.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Compiler/Guarded.h"
#include "mkernel/ABI/Package.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mk;

namespace {
/// What a handler throws. Not a std::exception, which somebody might catch.
struct Ended {
  std::string reason;
};

constexpr size_t kReserve = 1 << 20;

struct Task {
  llvm::function_ref<void()> body;
  std::string *problem;
  bool ok = false;
  /// Given back when there is no more, so that saying so has some: what the task has
  /// is not freed, since its frames have nothing to clean up.
  std::unique_ptr<char[]> reserve{new (std::nothrow) char[kReserve]};
};
} // namespace

/// Whether this thread is inside runGuarded(): others are not ours.
static thread_local bool guarded = false;

static constexpr char kNoMemory[] = "the compiler has no memory left: use smaller tiles or a "
                                    "smaller file, or raise the limit of memory (ulimit -v)";

/// Whether the process is the compiler's own. Threads of MLIR's pool cannot throw.
static bool exitsWithoutMemory = false;

[[noreturn]] static void exitWithoutMemory() {
  // Nothing that might allocate.
  for (llvm::StringRef part :
       {llvm::StringRef("error: "), llvm::StringRef(kNoMemory), llvm::StringRef("\n")})
    if (::write(2, part.data(), part.size()) < 0)
      break;
  ::_exit(1);
}

void mk::exitIfNoMemory() {
  exitsWithoutMemory = true;
  std::set_new_handler(exitWithoutMemory);
}

static void onFatalError(void *, const char *reason, bool) {
  llvm::StringRef text(reason);
  if (guarded && text.consume_front("IO failure on output stream: "))
    throw Ended{"standard output could not be written: " + text.str()};
  if (guarded)
    throw Ended{std::string("the compiler cannot go on: ") + reason +
                ": this is a defect of the compiler"};
  llvm::errs() << "LLVM ERROR: " << reason << '\n';
}

static void onNoMemory(void *, const char *reason, bool) {
  if (guarded && !exitsWithoutMemory)
    throw std::bad_alloc();
  if (exitsWithoutMemory)
    exitWithoutMemory();
  llvm::errs() << "LLVM ERROR: out of memory: " << reason << '\n';
  abort();
}

static void runTask(Task &task) {
  guarded = true;
  try {
    task.body();
    task.ok = true;
  } catch (const Ended &ended) {
    *task.problem = ended.reason;
  } catch (const std::bad_alloc &) {
    task.reserve.reset();
    *task.problem = kNoMemory;
  }
  guarded = false;
}

bool mk::runGuarded(llvm::function_ref<void()> body, std::string &problem) {
  // A program that uses LLVM itself and has handlers of its own gets ours instead;
  // outside of runGuarded() they do what LLVM does.
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::remove_fatal_error_handler();
    llvm::install_fatal_error_handler(onFatalError);
    llvm::remove_bad_alloc_error_handler();
    llvm::install_bad_alloc_error_handler(onNoMemory);
  });
  Task task{body, &problem};
  auto start = [](void *argument) -> void * {
    runTask(*static_cast<Task *>(argument));
    return nullptr;
  };
  // Pages that are not touched cost nothing, but a limit on addresses counts them.
  for (size_t bytes : {size_t(1) << 30, size_t(128) << 20}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_t thread;
    int err = pthread_create(&thread, &attributes, start, &task);
    pthread_attr_destroy(&attributes);
    if (err)
      continue;
    pthread_join(thread, nullptr);
    return task.ok;
  }
  runTask(task); // no thread to be had: on this stack, then
  return task.ok;
}

std::string mk::checkSource(llvm::StringRef source, llvm::StringRef name) {
  if (source.starts_with(MK_PACKAGE_MAGIC))
    return (name + ": error: this is a package, which is compiled already: mk-run runs it, and "
                   "mk-info --package says what it holds; give the .mlir that it was made from")
        .str();
  unsigned depth = 0, line = 1;
  for (size_t i = 0; i < source.size(); ++i) {
    char c = source[i];
    if (c == '\n') {
      ++line;
    } else if (c == '/' && source.substr(i, 2) == "//") {
      i = std::min(source.find('\n', i), source.size()) - 1;
    } else if (c == '"') {
      for (++i; i < source.size() && source[i] != '"' && source[i] != '\n'; ++i)
        if (source[i] == '\\')
          ++i;
      if (i < source.size() && source[i] == '\n')
        ++line; // the parser says that the string does not end
    } else if (llvm::StringRef("([{<").contains(c)) {
      if (++depth > kMaxNesting)
        return (name + ":" + llvm::Twine(line) + ": error: brackets nest more than " +
                llvm::Twine(kMaxNesting) + " deep: split this into several ops or functions")
            .str();
    } else if (llvm::StringRef(")]}>").contains(c) && depth > 0 &&
               source.substr(i ? i - 1 : 0, 2) != "->") {
      --depth;
    }
  }
  return {};
}
