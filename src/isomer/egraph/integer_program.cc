#include "isomer/egraph/integer_program.h"

#include <algorithm>
#include <cmath>
#include <coin/CbcEventHandler.hpp>
#include <coin/CbcModel.hpp>
#include <coin/CglKnapsackCover.hpp>
#include <coin/CglMixedIntegerRounding2.hpp>
#include <coin/CglProbing.hpp>
#include <coin/ClpEventHandler.hpp>
#include <coin/ClpSolve.hpp>
#include <coin/CoinError.hpp>
#include <coin/CoinPackedMatrix.hpp>
#include <coin/OsiClpSolverInterface.hpp>

namespace isomer {
namespace {

/// Costs are scaled, so that the solver's absolute tolerances are small next to them.
constexpr double kScale = 1000;
/// A better solution must be better by this much of `kScale`; smaller differences are rounding errors.
constexpr double kMinGain = 1e-6;

/// Stops branch and bound. The solver's own limits do not know about interrupts.
class BranchingDeadline : public CbcEventHandler {
 public:
  /// `bound` becomes the best lower bound before the deadline. Later bounds are wrong, because a linear program that
  /// was stopped is taken for infeasible.
  BranchingDeadline(const Deadline& end, double& bound) : end_(end), bound_(bound) {}
  CbcAction event(CbcEvent /*which*/) override {
    if (end_.passed()) return stop;
    bound_ = std::max(bound_, model_->getBestPossibleObjValue());
    return noAction;
  }
  CbcEventHandler* clone() const override { return new BranchingDeadline(*this); }

 private:
  const Deadline& end_;
  double& bound_;
};

/// Stops a linear program.
class SimplexDeadline : public ClpEventHandler {
 public:
  explicit SimplexDeadline(const Deadline& end) : end_(end) {}
  int event(Event which) override {
    constexpr int kContinue = -1;
    constexpr int kStop = 0;
    const bool may_stop = which == endOfIteration || which == endOfFactorization;
    return may_stop && end_.passed() ? kStop : kContinue;
  }
  ClpEventHandler* clone() const override { return new SimplexDeadline(*this); }

 private:
  const Deadline& end_;
};

/// Returns whether every solution with a variable costs `below` or more. The solver fails at huge costs.
bool is_too_expensive(const IntegerProgram::Variable& variable, double least_of_all, double below) {
  return variable.integer && least_of_all + variable.cost >= below;
}

void load(const IntegerProgram& program, double below, OsiClpSolverInterface& solver) {
  double least_of_all = 0;
  for (const IntegerProgram::Variable& variable : program.variables)
    least_of_all += std::min(0.0, variable.cost * variable.high);
  const auto columns = static_cast<int>(program.variables.size());
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> indices;
  std::vector<double> factors;
  std::vector<double> row_low;
  for (const auto& [terms, low] : program.rows) {
    for (const auto& [variable, factor] : terms) {
      indices.push_back(static_cast<int>(variable));
      factors.push_back(factor);
    }
    starts.push_back(static_cast<CoinBigIndex>(indices.size()));
    row_low.push_back(low);
  }
  const CoinPackedMatrix matrix(false, columns, static_cast<int>(row_low.size()), starts.back(), factors.data(),
                                indices.data(), starts.data(), nullptr);
  const std::vector<double> row_high(row_low.size(), solver.getInfinity());
  const std::vector<double> low(program.variables.size(), 0);
  std::vector<double> high;
  std::vector<double> costs;
  for (const IntegerProgram::Variable& variable : program.variables) {
    const bool never = is_too_expensive(variable, least_of_all, below);
    high.push_back(never ? 0 : variable.high);
    costs.push_back(never ? 0 : variable.cost * kScale / below);
  }
  solver.loadProblem(matrix, low.data(), high.data(), costs.data(), row_low.data(), row_high.data());
  for (int i = 0; i < columns; ++i)
    if (program.variables[static_cast<size_t>(i)].integer) solver.setInteger(i);
}

/// Leaves the handler of SIGINT as it is. The solver would install its own and then restore what it found, which is the
/// solver's own if another thread began earlier and ended later.
void leave_signals(OsiClpSolverInterface& solver) {
  constexpr int kInterrupts = 2;  // an option of ClpSolve
  ClpSolve options;
  options.setSpecialOption(kInterrupts, 1);
  solver.setSolveOptions(options);
}

void quiet(OsiClpSolverInterface& solver) {
  solver.messageHandler()->setLogLevel(0);
  solver.getModelPtr()->setLogLevel(0);
  solver.setHintParam(OsiDoReducePrint, true, OsiHintTry);
}

IntegerSolution solve(const IntegerProgram& program, double below, const Deadline& end) {
  const double scale = kScale / below;
  OsiClpSolverInterface solver;
  quiet(solver);
  leave_signals(solver);
  load(program, below, solver);
  SimplexDeadline simplex_deadline(end);
  solver.getModelPtr()->passInEventHandler(&simplex_deadline);
  solver.initialSolve();
  if (!solver.isProvenOptimal() && !solver.isProvenPrimalInfeasible()) return {};
  double bound = solver.isProvenOptimal() ? solver.getObjValue() : kScale;

  CbcModel model(solver);
  model.setLogLevel(0);
  model.messageHandler()->setLogLevel(0);
  const BranchingDeadline branching_deadline(end, bound);
  model.passInEventHandler(&branching_deadline);
  CglProbing probing;
  CglKnapsackCover covers;
  CglMixedIntegerRounding2 rounding;
  // -1: at the root, and below it only if they helped there.
  model.addCutGenerator(&probing, -1, "probing");
  model.addCutGenerator(&covers, -1, "covers");
  model.addCutGenerator(&rounding, -1, "rounding");
  model.setCutoff(kScale - kMinGain);
  model.setCutoffIncrement(kMinGain);
  model.branchAndBound();

  IntegerSolution out;
  out.proved = !end.passed() && model.status() == 0 && (model.isProvenOptimal() || model.isProvenInfeasible());
  if (const double* best = model.bestSolution()) out.values.assign(best, best + program.variables.size());
  const double cost = out.values.empty() ? kScale : model.getObjValue();
  out.bound = std::clamp(out.proved ? cost : bound, 0.0, cost) / scale;
  return out;
}

}  // namespace

IntegerSolution minimize(const IntegerProgram& program, double below, const Deadline& end) {
  if (end.passed()) return {};
  try {
    return solve(program, below, end);
  } catch (const CoinError&) {  // not a std::exception
    return {};
  }
}

}  // namespace isomer
