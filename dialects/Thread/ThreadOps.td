//===- ThreadOps.td - Ops of the thread dialect -------------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_OPS
#define MKERNEL_THREAD_OPS

include "ThreadLaunchOps.td"
include "ThreadDispatchOps.td"
include "ThreadSyncOps.td"
include "ThreadMemoryOps.td"
include "ThreadCopyOps.td"
include "ThreadMatrixOps.td"
include "ThreadReportOps.td"
include "ThreadTileOps.td"
include "ThreadChannelOps.td"
include "ThreadQueueOps.td"
include "ThreadTransferOps.td"
include "ThreadFragmentOps.td"

#endif // MKERNEL_THREAD_OPS
