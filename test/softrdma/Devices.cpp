//===- Devices.cpp - Devices, memory, addresses ---------------------------===//

#include "Functions.h"
#include "Nic.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace soft {

std::atomic<int> live[kObjects];

namespace {

/// OBJECTS=1: a process that ends says what it has not given back.
struct AtExit {
  ~AtExit() {
    const char *wanted = getenv("MK_SOFTRDMA_OBJECTS");
    if (wanted && *wanted == '1' && softrdma_objects())
      fprintf(stderr,
              "softrdma: not given back: %d contexts, %d domains, %d regions, "
              "%d completion queues, %d channels, %d queue pairs, %d addresses\n",
              live[0].load(), live[1].load(), live[2].load(), live[3].load(),
              live[4].load(), live[5].load(), live[6].load());
  }
} atExit;

constexpr uint32_t kVendorEfa = 0x1d0f, kVendorOther = 0x02c9;

/// The devices of the process. What NICS says may change between tests; those
/// that are open keep theirs.
struct List {
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<ibv_device *> pointers;
};
std::mutex listMutex;
std::vector<std::unique_ptr<List>> lists;

std::string text(const DeviceSpec &s) {
  return s.name + char('0' + int(s.kind)) + std::to_string(s.gbps) +
         (s.down ? "d" : "");
}

List &currentList() {
  std::lock_guard lock(listMutex);
  auto specs = devices();
  for (auto &list : lists) {
    bool same = list->devices.size() == specs.size();
    for (size_t i = 0; same && i < specs.size(); ++i)
      same = text(list->devices[i]->spec) == text(specs[i]);
    if (same)
      return *list;
  }
  auto list = std::make_unique<List>();
  for (auto &spec : specs) {
    auto d = std::make_unique<Device>();
    d->spec = spec;
    d->index = uint8_t(list->devices.size());
    d->node_type = spec.kind == Kind::Efa ? 7 : 1;
    d->transport_type = spec.kind == Kind::Efa ? 4 : 0;
    snprintf(d->name, sizeof d->name, "%s", spec.name.c_str());
    snprintf(d->dev_name, sizeof d->dev_name, "uverbs%d", d->index);
    snprintf(d->ibdev_path, sizeof d->ibdev_path, "/sys/class/infiniband/%s",
             d->name);
    list->pointers.push_back(d.get());
    list->devices.push_back(std::move(d));
  }
  list->pointers.push_back(nullptr);
  lists.push_back(std::move(list));
  return *lists.back();
}

void fillDevice(Nic *nic, ibv_device_attr &a) {
  a = {};
  snprintf(a.fw_ver, sizeof a.fw_ver, "soft");
  a.vendor_id = nic->device->spec.kind == Kind::Efa ? kVendorEfa : kVendorOther;
  a.max_mr_size = ~0ull;
  a.page_size_cap = 4096;
  a.max_qp = (1 << kQpBits) - 2;
  a.max_qp_wr = int(nic->knobs.qpLimit);
  a.max_sge = 1;
  a.max_cq = 1024;
  a.max_cqe = int(nic->knobs.cqLimit);
  a.max_mr = a.max_pd = a.max_ah = 65536;
  a.max_qp_rd_atom = a.max_qp_init_rd_atom = 16;
  a.max_pkeys = 1;
  a.phys_port_cnt = 1;
}

int queryDeviceEx(ibv_context *context, const void *, ibv_device_attr *attr,
                  size_t size) {
  memset(static_cast<void *>(attr), 0, size);
  fillDevice(Nic::of(context), *attr);
  return 0;
}

int queryPort(ibv_context *context, uint8_t port, ibv_port_attr *attr,
              size_t size) {
  Nic *nic = Nic::of(context);
  if (port != 1)
    return EINVAL;
  const DeviceSpec &spec = nic->device->spec;
  ibv_port_attr p{};
  std::lock_guard lock(nic->mutex);
  p.state = spec.down || nic->portDown ? 1 : 4;
  p.phys_state = p.state == 4 ? 5 : 3;
  p.max_mtu = p.active_mtu = 5; // 4096
  p.gid_tbl_len = spec.kind == Kind::Roce ? 8 : 1;
  p.max_msg_sz = nic->knobs.maxMessage;
  p.pkey_tbl_len = 1;
  p.link_layer = spec.kind == Kind::Roce  ? kLinkEthernet
                 : spec.kind == Kind::Efa ? kLinkUnspecified
                                          : kLinkInfiniBand;
  if (spec.kind == Kind::InfiniBand)
    p.lid = uint16_t(nic->knobs.node << 6 | (nic->device->index + 1));
  // Four lanes of EDR (100), HDR (200), NDR (400).
  p.active_width = 2;
  p.active_speed = spec.gbps >= 400 ? 128 : spec.gbps >= 200 ? 64 : 32;
  memcpy(attr, &p, std::min(size, sizeof p));
  return 0;
}

ibv_cq_ex *createCqEx(ibv_context *context, ibv_cq_init_attr_ex *a) {
  return createCq(context, a->cqe, a->cq_context, a->channel);
}

ibv_qp *createQpEx(ibv_context *context, ibv_qp_init_attr_ex *a) {
  if (Nic::of(context)->device->spec.kind == Kind::Efa ||
      a->qp_type != kTypeRc) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  return createQp(context, a, false, 0);
}

bool isEfa(ibv_context *context) {
  return Nic::of(context)->device->spec.kind == Kind::Efa;
}

ibv_mr *registerMemory(ibv_pd *pd, void *address, size_t bytes, uint64_t iova,
                       unsigned access) {
  Nic *nic = Nic::of(pd->context);
  bool efa = nic->device->spec.kind == Kind::Efa;
  int error = 0;
  if (!address || !bytes ||
      ((access & kAccessRemoteWrite) && !(access & kAccessLocalWrite)))
    error = EINVAL;
  else if (efa && (access & kAccessRemoteAtomic))
    error = EOPNOTSUPP;
  else if ((access & kAccessRelaxed) && !nic->knobs.relaxed)
    error = EOPNOTSUPP;
  else if (nic->knobs.regNth && ++nic->registered >= nic->knobs.regNth)
    error = ENOMEM;
  if (error) {
    errno = error;
    return nullptr;
  }
  Mr *mr = new Mr{};
  mr->context = pd->context;
  mr->pd = pd;
  mr->addr = address;
  mr->length = bytes;
  mr->iova = iova;
  mr->access = access;
  std::lock_guard lock(nic->mutex);
  mr->lkey = mr->rkey = nic->nextKey += 0x101;
  nic->mrs[mr->lkey] = mr;
  return mr;
}

} // namespace

extern "C" {

ibv_device **ibv_get_device_list(int *n) {
  List &list = currentList();
  if (n)
    *n = int(list.devices.size());
  return list.pointers.data();
}

void ibv_free_device_list(ibv_device **) {}
const char *ibv_get_device_name(ibv_device *d) { return d->name; }
uint64_t ibv_get_device_guid(ibv_device *d) {
  return 0x0200000000000000 | static_cast<Device *>(d)->index;
}
int ibv_fork_init() { return 0; }

ibv_context *ibv_open_device(ibv_device *which) {
  auto nic = std::make_unique<Nic>();
  nic->device = static_cast<Device *>(which);
  nic->knobs = Knobs::read();
  nic->verbs.sz = sizeof nic->verbs;
  nic->verbs.query_port = queryPort;
  nic->verbs.query_device_ex = queryDeviceEx;
  nic->verbs.create_cq_ex = createCqEx;
  nic->verbs.create_qp_ex = createQpEx;
  ibv_context *context = nic->context();
  context->device = which;
  context->num_comp_vectors = 1;
  context->abi_compat = reinterpret_cast<void *>(~uintptr_t(0));
  context->ops.poll_cq = pollCq;
  context->ops.req_notify_cq = requestNotify;
  context->ops.post_recv = postReceive;
  if (!nic->open()) {
    errno = EBUSY;
    return nullptr;
  }
  return nic.release()->context();
}

int ibv_close_device(ibv_context *context) {
  Nic *nic = Nic::of(context);
  nic->close();
  if (!nic->qps.empty() || !nic->mrs.empty())
    fprintf(stderr,
            "softrdma: %s closed with %zu queue pairs and %zu memory "
            "regions\n",
            nic->device->name, nic->qps.size(), nic->mrs.size());
  delete nic;
  return 0;
}

int ibv_query_device(ibv_context *context, ibv_device_attr *attr) {
  fillDevice(Nic::of(context), *attr);
  return 0;
}

// The exported function of this name has an older structure, which ends early.
int ibv_query_port(ibv_context *context, uint8_t port, ibv_port_attr *attr) {
  return queryPort(context, port, attr, offsetof(ibv_port_attr, flags));
}

int ibv_query_gid(ibv_context *context, uint8_t port, int index, ibv_gid *gid) {
  Nic *nic = Nic::of(context);
  if (port != 1 || index < 0 ||
      index >= (nic->device->spec.kind == Kind::Roce ? 8 : 1)) {
    errno = EINVAL;
    return -1;
  }
  *gid = nic->gid(uint32_t(index));
  return 0;
}

int _ibv_query_gid_ex(ibv_context *context, uint32_t port, uint32_t index,
                      ibv_gid_entry *entry, uint32_t flags, size_t size) {
  Nic *nic = Nic::of(context);
  if (port != 1 || index >= (nic->device->spec.kind == Kind::Roce ? 8u : 1u) ||
      flags)
    return EINVAL;
  ibv_gid_entry e{};
  e.gid = nic->gid(index);
  if (!e.gid.raw[15])
    return ENODATA;
  e.gid_index = index;
  e.port_num = port;
  e.gid_type = nic->gidType(index);
  memcpy(entry, &e, std::min(size, sizeof e));
  return 0;
}

ibv_pd *ibv_alloc_pd(ibv_context *context) {
  Pd *pd = new Pd{};
  pd->context = context;
  return pd;
}

int ibv_dealloc_pd(ibv_pd *pd) {
  Nic *nic = Nic::of(pd->context);
  std::lock_guard lock(nic->mutex);
  for (auto &[key, mr] : nic->mrs)
    if (mr->pd == pd)
      return EBUSY;
  for (auto &[qpn, qp] : nic->qps)
    if (qp->pd == pd)
      return EBUSY;
  delete static_cast<Pd *>(pd);
  return 0;
}

/// Whether the CPU reaches it: a kernel without the GPU's module for peer memory refuses its
/// addresses, too.
static bool isHostMemory(const void *address, size_t bytes) {
  if (bytes == 0)
    return true;
  for (size_t at : {size_t(0), bytes - 1}) {
    char byte;
    iovec local{&byte, 1};
    iovec remote{static_cast<char *>(const_cast<void *>(address)) + at, 1};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 && errno == EFAULT)
      return false;
  }
  return true;
}

ibv_mr *ibv_reg_mr(ibv_pd *pd, void *address, size_t bytes, int access) {
  if (!isHostMemory(address, bytes)) {
    errno = EFAULT;
    return nullptr;
  }
  return registerMemory(pd, address, bytes, uint64_t(address),
                        unsigned(access));
}

ibv_mr *ibv_reg_mr_iova2(ibv_pd *pd, void *address, size_t bytes, uint64_t iova,
                         unsigned access) {
  if (!isHostMemory(address, bytes)) {
    errno = EFAULT;
    return nullptr;
  }
  return registerMemory(pd, address, bytes, iova, access);
}

ibv_mr *ibv_reg_mr_iova(ibv_pd *pd, void *address, size_t bytes, uint64_t iova,
                        int access) {
  return registerMemory(pd, address, bytes, iova, unsigned(access));
}

// With DMABUF=1 any descriptor that can be mapped stands for one.
ibv_mr *ibv_reg_dmabuf_mr(ibv_pd *pd, uint64_t offset, size_t bytes,
                          uint64_t iova, int fd, int access) {
  if (!Nic::of(pd->context)->knobs.dmabuf) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                  off_t(offset));
  if (at == MAP_FAILED)
    return nullptr;
  ibv_mr *mr = registerMemory(pd, at, bytes, iova, unsigned(access));
  if (mr)
    static_cast<Mr *>(mr)->mapped = at;
  else
    munmap(at, bytes);
  return mr;
}

int ibv_dereg_mr(ibv_mr *which) {
  Mr *mr = static_cast<Mr *>(which);
  Nic *nic = Nic::of(mr->context);
  std::lock_guard lock(nic->mutex);
  nic->mrs.erase(mr->lkey);
  if (mr->mapped)
    munmap(mr->mapped, mr->length);
  delete mr;
  return 0;
}

ibv_ah *ibv_create_ah(ibv_pd *pd, ibv_ah_attr *attr) {
  if (!attr->is_global || attr->port_num != 1 || !attr->grh.dgid.raw[15]) {
    errno = EINVAL;
    return nullptr;
  }
  Ah *ah = new Ah{};
  ah->context = pd->context;
  ah->pd = pd;
  ah->gid = attr->grh.dgid;
  return ah;
}

int ibv_destroy_ah(ibv_ah *ah) {
  delete static_cast<Ah *>(ah);
  return 0;
}

int efadv_query_device(ibv_context *context, efadv_device_attr *attr,
                       uint32_t size) {
  if (!isEfa(context))
    return EOPNOTSUPP;
  Nic *nic = Nic::of(context);
  efadv_device_attr a{};
  a.max_sq_wr = nic->knobs.qpLimit;
  a.max_rq_wr = nic->knobs.qpLimit * 8;
  a.max_sq_sge = 2;
  a.max_rq_sge = 3;
  a.inline_buf_size = 32;
  a.device_caps = nic->knobs.caps;
  a.max_rdma_size = nic->knobs.maxMessage;
  memset(attr, 0, size);
  memcpy(attr, &a, std::min<size_t>(size, sizeof a));
  return 0;
}

ibv_cq_ex *efadv_create_cq(ibv_context *context, ibv_cq_init_attr_ex *attr,
                           efadv_cq_init_attr *, uint32_t) {
  if (!isEfa(context)) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  return createCqEx(context, attr);
}

ibv_qp *efadv_create_qp_ex(ibv_context *context, ibv_qp_init_attr_ex *attr,
                           efadv_qp_init_attr *efa, uint32_t size) {
  uint16_t flags = size >= 14 ? efa->flags : 0;
  uint16_t known =
      Nic::of(context)->knobs.caps & kEfaUnsolicited ? kEfaQpUnsolicited : 0;
  if (!isEfa(context) || attr->qp_type != kTypeDriver || efa->driver_qp_type ||
      (flags & ~known)) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  return createQp(context, attr, true, flags);
}

int efadv_query_ah(ibv_ah *ah, void *attr, uint32_t size) {
  if (!isEfa(ah->context))
    return EOPNOTSUPP;
  if (size < 10)
    return EINVAL;
  memset(attr, 0, size);
  uint16_t number = static_cast<Ah *>(ah)->gid.raw[15];
  memcpy(static_cast<char *>(attr) + 8, &number, sizeof number);
  return 0;
}

int softrdma_contexts() { return int(allNics().size()); }

int softrdma_objects() {
  int sum = 0;
  for (const std::atomic<int> &count : live)
    sum += count;
  return sum;
}

int softrdma_cq_peak(int context, int *capacity) {
  auto nics = allNics();
  if (context < 0 || size_t(context) >= nics.size())
    return -1;
  *capacity = int(nics[size_t(context)]->cqCapacity);
  return int(nics[size_t(context)]->cqPeak);
}

void softrdma_pause(int context, int on) {
  auto nics = allNics();
  for (size_t i = 0; i < nics.size(); ++i)
    if (context < 0 || size_t(context) == i)
      nics[i]->setPaused(on);
}

int softrdma_settle(int milliseconds) {
  auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
  auto snapshot = [] {
    uint64_t sent = 0, handled = 0, pending = 0;
    for (Nic *nic : allNics())
      pending += nic->pending(), sent += nic->sent, handled += nic->handled;
    return std::tuple(sent, handled, pending);
  };
  for (;;) {
    auto first = snapshot();
    auto [sent, handled, pending] = first;
    if (sent == handled && !pending && first == snapshot())
      return 1;
    if (Clock::now() > until)
      return 0;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

int softrdma_deliver(int context, uint64_t packet) {
  auto nics = allNics();
  if (context < 0 || size_t(context) >= nics.size() ||
      !nics[size_t(context)]->deliver(packet))
    return 0;
  return softrdma_settle(2000);
}

} // extern "C"
} // namespace soft
