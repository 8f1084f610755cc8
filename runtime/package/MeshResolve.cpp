//===- MeshResolve.cpp - Sizes of a job's mesh ----------------------------===//

#include "mkernel/Runtime/Package.h"

using namespace mk::rt;

namespace {

std::string describe(std::span<const Metadata::MeshAxis> axes) {
  std::string text;
  for (const auto &axis : axes) {
    text += text.empty() ? "" : ", ";
    text += axis.name + " = ";
    text += axis.size ? std::to_string(*axis.size) : std::string("?");
    text += " via " + std::string(toString(axis.kind));
  }
  return "mesh (" + text + ")";
}

/// Makes the product of the axes of one kind `wanted`, if that is given.
Status fill(std::vector<Metadata::MeshAxis> &axes, LinkKind kind,
            int64_t wanted, const char *option) {
  if (wanted == 0)
    return Status::success();
  int64_t product = 1;
  Metadata::MeshAxis *open = nullptr;
  int unbound = 0;
  for (auto &axis : axes) {
    if (axis.kind != kind)
      continue;
    if (axis.size)
      product *= *axis.size;
    else
      open = &axis, ++unbound;
  }
  std::string context =
      str(option, " ", wanted, " does not fit the ", describe(axes), ": ");
  if (unbound > 1)
    return error(StatusCode::InvalidArgument, context, unbound, " axes via ",
                 toString(kind),
                 " have no size; give them by name, as in "
                 "--bind ",
                 open->name, "=", wanted);
  if (unbound == 0 && product != wanted)
    return error(StatusCode::InvalidArgument, context, "its axes via ",
                 toString(kind), " make ", product);
  if (unbound == 0)
    return Status::success();
  if (wanted % product != 0)
    return error(StatusCode::InvalidArgument, context, wanted,
                 " is no multiple of ", product);
  open->size = wanted / product;
  return Status::success();
}

} // namespace

Result<Mesh> mk::rt::resolveMesh(const Metadata &metadata,
                                 std::span<const NamedSize> bind, int64_t nodes,
                                 int64_t gpus) {
  std::vector<Metadata::MeshAxis> axes = metadata.mesh;
  for (const NamedSize &b : bind)
    for (auto &axis : axes) {
      if (axis.name != b.name)
        continue;
      if (axis.size && *axis.size != b.size)
        return error(StatusCode::InvalidArgument, "--bind ", b.name, "=",
                     b.size, " does not fit the ", describe(axes),
                     " that the package was compiled for: compile it again");
      axis.size = b.size;
    }
  MK_TRY(fill(axes, LinkKind::Net, nodes, "--nodes"));
  MK_TRY(fill(axes, LinkKind::Link, gpus, "--gpus"));
  std::vector<Axis> result;
  for (const auto &axis : axes)
    result.push_back({axis.name, axis.size.value_or(1), axis.kind});
  return Mesh::create(std::move(result));
}
