// The random streams, one per purpose, so that no two draws use the same number. Never reuse the
// number of a stream for another purpose: results depend on it. No random numbers here.
#pragma once

namespace stream {
enum : unsigned {
    CHECK = 0,       // tests of the generator itself
    START = 1,       // genes of the first generation
    MUTANT = 2,      // genes of mutants and of restarted islands
    PARENTS = 3,     // parents of a BRKGA child
    MATE = 4,        // the parent of each gene of a child
    SELECT = 5,      // individuals that migrate
    REPLACE = 6,     // individuals that immigrants replace
    NEIGHBOUR = 7,   // which neighbour an individual mates with
    OPERATORS = 8,   // crossover, mutation and cut points of a group of individuals
    CROSS = 9,       // draws of a crossover for one individual
    MUTATE = 10,     // draws of a mutation for one individual
    DONORS = 11,     // donors of a differential trial, and the position that always changes
    TRIAL = 12,      // which genes of a differential trial are new
    ADAPT = 13,      // self-adapted settings of an individual
    IMPROVE = 14,    // whether an individual is improved
    POSITION = 15,   // the position that the local search of an island changes
    TENURE = 16,     // tabu tenures
    DROP = 17,       // which items an infeasible subset loses
    VELOCITY = 18,   // attraction of a particle to the best positions
    SIGMOID = 19,    // whether a particle's bit is set
    MATES = 20,      // parents of a genetic algorithm's child
    SEARCH = 21,     // reserved for local searches on subsets
    FILL = 22,       // first item to try when a subset is filled
    MATING = 23,     // order in which the individuals of an island mate
    WALK = 24,       // edges of AB-cycles
    GREEDY = 25,     // lengths of the edges of a first tour
    ESET = 26,       // AB-cycles that a child combines
    PROPOSALS = 32,  // moves that tempering proposes, and their acceptance
    BEGIN = 33,      // the row of pairs at which a replica starts a generation
    RUNGS = 34,      // exchanges of temperatures between replicas
    RENEWAL = 35,    // second parents of renewed replicas
    GROWTH = 36,     // seeds and steps of growing partial assignments
    OTHERS = 128,    // this and above: parts defined in scripts
};
}
