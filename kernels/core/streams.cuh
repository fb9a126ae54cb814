// The register of random streams: no two purposes share one, so no two draws are ever the same
// number. A number, once given, is never reused for another purpose: results depend on it.
#pragma once

namespace stream {
enum : unsigned {
    CHECK = 0,      // the tests of the generator itself
    START = 1,      // the genes of the first generation
    MUTANT = 2,     // the genes of mutants and of restarted islands
    PARENTS = 3,    // which parents a child has
    MATE = 4,       // which parent each gene of a child comes from
    SELECT = 5,     // who leaves an island by migration
    REPLACE = 6,    // who makes room for an immigrant
    NEIGHBOUR = 7,  // which neighbour an individual mates with
    OPERATORS = 8,  // whether a group of individuals crosses and mutates, and where it cuts
    CROSS = 9,      // what a crossover draws for one individual
    MUTATE = 10,    // what a mutation draws for one individual
    DONORS = 11,    // the other individuals of a differential trial, and its certain position
    TRIAL = 12,     // which genes of a differential trial are new
    ADAPT = 13,     // an individual's own settings
    IMPROVE = 14,   // whether an individual is improved
    POSITION = 15,  // the position that all individuals of an island try to improve
    TENURE = 16,    // how long a move is tabu
    DROP = 17,      // which items an infeasible subset loses
    VELOCITY = 18,  // how strongly a particle is drawn to the best positions
    SIGMOID = 19,   // whether a particle's bit is set
    MATES = 20,     // the parents of a genetic algorithm's child
    SEARCH = 21,    // what a search near a subset draws
    FILL = 22,      // which item is the first to be asked whether it still fits
    OTHERS = 128,   // this one and those above: for parts from outside of the project
};
}
