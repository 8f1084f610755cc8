//===- JobSetup.h - Before and after the ranks of a job run -----*- C++ -*-===//
//
// What the launcher and a rank that another launcher started both do.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TOOLS_MKRUN_JOBSETUP_H
#define MKERNEL_TOOLS_MKRUN_JOBSETUP_H

#include "Compile.h"
#include "Report.h"

namespace mk::run {

/// Compiles options.file, or reads it if it is a package. On a GPU the grid has
/// a CTA for each SM unless the options say otherwise.
Result<Compiled> compileFile(const Options &options);

/// Names of files must fit before anything is started.
Status checkNames(const Options &options, const rt::Metadata &metadata);
/// What only some meshes and targets can do. `launcher`: who else has started the ranks,
/// if not mk-run.
Status checkMode(const Options &options, const rt::Metadata &metadata, const rt::Mesh &mesh,
                 const std::string &launcher = "");
/// Of these ranks, in the memory of this machine.
double argumentBytes(const rt::Metadata &metadata, const rt::JobPlan &plan,
                     const std::vector<uint32_t> &ranks);
/// ResourceExhausted when the arguments of `ranks`, those of this machine, do
/// not fit its memory.
Status checkMemory(const rt::Metadata &metadata, const rt::JobPlan &plan,
                   const std::vector<uint32_t> &ranks);
std::vector<uint32_t> allRanks(const rt::Mesh &mesh);
Status readInputs(const Options &options, const rt::Metadata &metadata,
                  const rt::JobPlan &plan, const JobMemory &job);

/// With the results of all ranks in report.job: checks, writes and prints.
Status finishJob(Report &report, const rt::Payload &payload,
                 const rt::JobPlan &plan, bool &passed);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_JOBSETUP_H
