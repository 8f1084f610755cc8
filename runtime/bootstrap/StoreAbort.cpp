//===- StoreAbort.cpp - Aborts travel through the store -------------------===//

#include "mkernel/Runtime/Log.h"
#include "mkernel/Runtime/Store.h"

namespace mk::rt {

void connectAbort(AbortWord &word, StoreClient &store) {
  word.onRaise([&store](const AbortRecord &record) {
    // The store may be what failed; this rank stops in any case.
    if (Status s = store.publishAbort(record); !s)
      log::warn("the abort could not be published: ", s.message());
  });
  word.addNote(&store, [&store] { return store.silent(); });
  store.onAbort(
      [&word](const AbortRecord &record) { word.raiseRemote(record); });
}

void disconnectAbort(AbortWord &word, StoreClient &store) {
  store.onAbort(nullptr);
  word.onRaise(nullptr);
  word.removeNote(&store);
}

} // namespace mk::rt
