// mk-pack METADATA.json PAYLOAD.so OUT: makes a package of hand-written code.
#include "mkernel/Runtime/PackageC.h"

#include <stdio.h>
#include <stdlib.h>

static char *readFile(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*size + 1);
  *size = fread(text, 1, *size, file);
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: mk-pack METADATA.json PAYLOAD.so OUT\n");
    return 2;
  }
  size_t metadataBytes, payloadBytes, bytes;
  char *metadata = readFile(argv[1], &metadataBytes);
  char *payload = readFile(argv[2], &payloadBytes);
  void *package;
  char *error;
  if (mk_package_write(metadata, metadataBytes, payload, payloadBytes, &package,
                       &bytes, &error)) {
    fprintf(stderr, "mk-pack: %s\n", error);
    return 1;
  }
  FILE *out = fopen(argv[3], "wb");
  int bad = !out || fwrite(package, 1, bytes, out) != bytes || fclose(out);
  if (bad)
    perror(argv[3]);
  mk_package_free(package);
  free(metadata);
  free(payload);
  return bad;
}
