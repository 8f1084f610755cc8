// A driver from before the look-up by version.
int cuInit(unsigned flags) { return (int)flags; }
