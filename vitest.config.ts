import { defineConfig } from 'vitest/config'

// The commands that tests start find their compiled code here: each start takes two thirds of the CPU.
process.env.NODE_COMPILE_CACHE ??= new URL('node_modules/.cache/node', import.meta.url).pathname

// Real processes and real sockets on two shared cores: slow is not wrong, hung is. By night, properties are tried more often.
const patience = {
  testTimeout: process.env.NIGHTLY === undefined ? 60_000 : 900_000,
  hookTimeout: 90_000,
  expect: { poll: { timeout: 30_000 } },
}

/** Tests that compare a measured time with a known truth. */
const timing = 'test/**/*.timing.test.ts'

/**
 * Tests that leave something behind in their process, each with a process of its own. All others share those of the workers,
 * which load each module once: two thirds of a second of CPU for each file.
 */
const apart = [
  // The keys that they send stay among the secrets of the process.
  'test/client/**/*.test.ts',
  // The room of stores that it exchanges for wrong ones.
  'test/portal/mutants.test.ts',
  // Runs that keep a core busy, or go on without a file to open: if one times out, it ends with its process.
  ...['test/run/loads.test.ts', 'test/cli/open-files.test.ts'],
]

export default defineConfig({
  // The examples of the documents import the package by its name.
  resolve: { alias: { assay: new URL('src/index.ts', import.meta.url).pathname } },
  test: {
    pool: 'forks',
    // More than the cores: real processes and sockets spend most of their time waiting.
    maxWorkers: 3,
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [timing, ...apart, '**/node_modules/**'],
          globalSetup: ['test/built.ts', 'test/foreign/installed.ts'],
          isolate: false,
          sequence: { groupOrder: 0 },
          ...patience,
        },
      },
      {
        test: {
          name: 'apart',
          include: apart,
          exclude: [timing],
          globalSetup: 'test/built.ts',
          sequence: { groupOrder: 0 },
          ...patience,
        },
      },
      {
        // Alone, after the others, so that no test of ours slows them. A test that compares durations may
        // retry by itself, with its reason; a test that counts charges, rows or exit codes never does.
        test: {
          name: 'timing',
          include: [timing],
          globalSetup: 'test/built.ts',
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
          ...patience,
        },
      },
    ],
  },
})
