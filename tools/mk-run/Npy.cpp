//===- Npy.cpp - NumPy's array files --------------------------------------===//

#include "Npy.h"

#include "../Support/Input.h"

#include "mkernel/Runtime/Env.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

using namespace mk::run;
using namespace mk::rt;

namespace {

struct Format {
  const char *descr;
  ElementType type;
  bool rawBits;
};

constexpr Format formats[] = {
    {"<f8", ElementType::f64, false}, {"<f4", ElementType::f32, false},
    {"<f2", ElementType::f16, false}, {"<u2", ElementType::bf16, true},
    {"<i8", ElementType::i64, false}, {"<i4", ElementType::i32, false},
    {"<i2", ElementType::i16, false}, {"|i1", ElementType::i8, false},
    {"|b1", ElementType::i1, false},
};

struct Closer {
  void operator()(FILE *f) const { std::fclose(f); }
};
using File = std::unique_ptr<FILE, Closer>;

/// The text behind "'key':" in the header, which is a Python literal.
std::string_view field(std::string_view header, std::string_view key) {
  std::string quoted = str("'", key, "'");
  size_t at = header.find(quoted);
  if (at == std::string_view::npos)
    return {};
  at = header.find(':', at + quoted.size());
  if (at == std::string_view::npos)
    return {};
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string_view::npos ? std::string_view() : header.substr(at);
}

} // namespace

int64_t NpyArray::elements() const {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

Result<NpyArray> mk::run::readNpy(const std::string &path) {
  auto refuse = [&](const std::string &why) {
    return error(StatusCode::InvalidArgument, "'", path, "' ", why);
  };
  if (std::string why = mkernel::findEndless(path); !why.empty())
    return refuse(why);
  File file(std::fopen(path.c_str(), "rbe"));
  if (!file)
    return errnoError(StatusCode::NotFound, "opening '" + path + "'",
                      errno);
  unsigned char start[12];
  if (std::fread(start, 1, 10, file.get()) != 10 ||
      std::memcmp(start, "\x93NUMPY", 6) != 0)
    return refuse("is not a .npy file");
  uint32_t length = start[8] | start[9] << 8;
  if (start[6] < 1 || start[6] > 3)
    return refuse(str("has version ", int(start[6]), " of the format; 1 to 3 can be read"));
  if (start[6] >= 2) {
    if (std::fread(start + 10, 1, 2, file.get()) != 2)
      return refuse("is truncated in its header");
    length |= start[10] << 16 | uint32_t(start[11]) << 24;
  }
  if (length > 1 << 20)
    return refuse("has a header of more than 1 MiB");
  std::string header(length, ' ');
  if (std::fread(header.data(), 1, length, file.get()) != length)
    return refuse("is truncated in its header");

  NpyArray array;
  std::string_view descr = field(header, "descr");
  const Format *format = nullptr;
  for (const Format &f : formats)
    if (descr.substr(0, 5) == str("'", f.descr, "'"))
      format = &f;
  if (!format)
    return refuse("holds elements of the type " +
                  std::string(descr.substr(0, descr.find(','))) +
                  "; f2, f4, f8, i1, i2, i4, i8, bool and u2 (bits of bf16), "
                  "little-endian, can be read");
  array.type = format->type;
  array.rawBits = format->rawBits;

  std::string_view shape = field(header, "shape");
  size_t close = shape.find(')');
  if (shape.empty() || shape[0] != '(' || close == std::string_view::npos)
    return refuse("has no shape in its header");
  int64_t elements = 1;
  for (size_t at = 1; at < close;) {
    size_t comma = std::min(shape.find(',', at), close);
    std::string text(shape.substr(at, comma - at));
    at = comma + 1;
    while (!text.empty() && (text.front() == ' ' || text.back() == ' '))
      text.erase(text.front() == ' ' ? 0 : text.size() - 1, 1);
    if (text.empty())
      continue;
    auto extent = env::parseInt(text);
    if (!extent || *extent < 0 ||
        (*extent > 0 && elements > (int64_t(1) << 40) / *extent))
      return refuse("has an impossible shape");
    array.shape.push_back(*extent);
    elements *= *extent;
  }

  size_t size = byteSize(array.type);
  // In parts: a header may promise more than the file has, or any machine.
  size_t bytes = elements * size;
  for (size_t done = 0; done < bytes; done = array.data.size()) {
    size_t part = std::min(bytes - done, std::max(done, size_t(64) << 20));
    array.data.resize(done + part);
    if (std::fread(array.data.data() + done, 1, part, file.get()) != part)
      return refuse(str("is truncated: less than ", bytes, " bytes of data"));
  }
  if (field(header, "fortran_order").substr(0, 4) == "True") {
    std::vector<std::byte> rowMajor(array.data.size());
    std::vector<int64_t> at(array.shape.size());
    for (int64_t i = 0; i < elements; ++i) {
      // i counts columns first: at[0] runs fastest.
      int64_t row = 0;
      for (size_t d = 0; d < at.size(); ++d)
        row = row * array.shape[d] + at[d];
      std::memcpy(&rowMajor[row * size], &array.data[i * size], size);
      for (size_t d = 0; d < at.size() && ++at[d] == array.shape[d]; ++d)
        at[d] = 0;
    }
    array.data = std::move(rowMajor);
  }
  return array;
}

Status mk::run::writeNpy(const std::string &path, ElementType type,
                         const std::vector<int64_t> &shape, const void *data) {
  int64_t elements = 1;
  std::string text;
  for (int64_t extent : shape) {
    elements *= extent;
    text += str(extent, ", ");
  }
  std::vector<std::byte> widened;
  if (type == ElementType::f8e4m3 || type == ElementType::f8e5m2) {
    widened.resize(elements * 4);
    for (int64_t i = 0; i < elements; ++i)
      storeElement(ElementType::f32, widened.data(), i,
                   loadElement(type, data, i));
    type = ElementType::f32;
    data = widened.data();
  }
  const char *descr = "<f8";
  for (const Format &f : formats)
    if (f.type == type)
      descr = f.descr;
  std::string header =
      str("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", text,
          "), }");
  // Data starts on a multiple of 64 bytes.
  size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.resize(total - 11, ' ');
  header += '\n';
  unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  start[8] = header.size() & 255;
  start[9] = header.size() >> 8;

  File file(std::fopen(path.c_str(), "wbe"));
  if (!file)
    return errnoError(StatusCode::Unavailable, "writing '" + path + "'",
                      errno);
  size_t bytes = elements * byteSize(type);
  bool ok = std::fwrite(start, 1, 10, file.get()) == 10 &&
            std::fwrite(header.data(), 1, header.size(), file.get()) ==
                header.size() &&
            std::fwrite(data, 1, bytes, file.get()) == bytes;
  if (std::fclose(file.release()) != 0 || !ok)
    return errnoError(StatusCode::Unavailable, "writing '" + path + "'",
                      errno);
  return Status::success();
}

Status mk::run::convertNpy(const NpyArray &array, ElementType type, void *out) {
  int64_t elements = array.elements();
  if (array.rawBits ? type == ElementType::bf16 : type == array.type) {
    std::memcpy(out, array.data.data(), elements * byteSize(type));
    return Status::success();
  }
  if (array.rawBits)
    return error(StatusCode::InvalidArgument,
                 "16-bit patterns ('<u2') are for "
                 "bf16 arguments, this one is ",
                 name(type));
  // Floats are rounded; nothing else may become another number.
  for (int64_t i = 0; i < elements; ++i) {
    double value = loadElement(array.type, array.data.data(), i);
    storeElement(type, out, i, value);
    double stored = loadElement(type, out, i);
    // An i64 that is too large would be as large as a double says.
    bool isKept = isFloat(type) ? std::isfinite(stored) || value == stored ||
                                      (std::isnan(value) && std::isnan(stored))
                                : value == stored && value < 0x1p63;
    if (isKept)
      continue;
    char text[32];
    std::snprintf(text, sizeof(text), "%.10g", value);
    return error(
        StatusCode::InvalidArgument, "element ", i, " of the array (row-major, from 0) is ", text,
        ", which ", name(type), " cannot hold: ",
        isFloat(type) ? "clip the values to its range" : "give integers that are in its range");
  }
  return Status::success();
}
