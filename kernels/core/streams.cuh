// The register of random streams: no two purposes share one, so no two draws are ever the same
// number. A number, once given, is never reused for another purpose: results depend on it.
#pragma once

namespace stream {
enum : unsigned {
    CHECK = 0,    // the tests of the generator itself
    START = 1,    // the genes of the first generation
    MUTANT = 2,   // the genes of mutants and of restarted islands
    PARENTS = 3,  // which parents a child has
    MATE = 4,     // which parent each gene of a child comes from
    SELECT = 5,   // who leaves an island by migration
    REPLACE = 6,  // who makes room for an immigrant
};
}
