//===- Tile.td - Everything in the tile dialect -------------*- tablegen -*-===//
include "TileAttrs.td"
include "TileTarget.td"
include "TileTypes.td"
include "TileStructureOps.td"
include "TileLoopOps.td"
include "TileOps.td"
include "TileCommOps.td"
