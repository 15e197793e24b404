/** What `npm test` asks of imports, types included: no circle among files. The rule of the folders is the linter's (eslint.config.mjs). */
module.exports = {
  forbidden: [{ name: "no-circles", severity: "error", from: {}, to: { circular: true } }],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules|(^|/)dist/" },
    exclude: { path: "node_modules|(^|/)(dist|gen)/" },
    tsConfig: { fileName: "tsconfig.base.json" },
  },
};
