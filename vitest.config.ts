import { defineConfig } from 'vitest/config'

const fileOf = (path: string) => new URL(path, import.meta.url).pathname

// The commands that tests start find their compiled code here: each start takes two thirds of the CPU.
process.env.NODE_COMPILE_CACHE ??= fileOf('node_modules/.cache/node')

// Real processes and real sockets on two shared cores: slow is not wrong, hung is. By night, properties are tried more often.
const patience = {
  testTimeout: process.env.NIGHTLY === undefined ? 60_000 : 900_000,
  hookTimeout: 90_000,
  expect: { poll: { timeout: 30_000 } },
}

/** Tests that compare a measured time with a known truth. */
const timing = 'test/**/*.timing.test.ts'

const filesOf = (...rooms: readonly string[]) => rooms.map((room) => `test/${room}/**/*.test.ts`)

/**
 * Rooms whose tests leave nothing behind for each other: the files of a set share the processes of its workers, which load
 * each module once. The sets do not mix, since tests that send leave keys among the secrets of their process.
 */
const sharing = {
  pure: filesOf(
    ...[
      'attempt',
      'audit',
      'chart',
      'contract',
      'credits',
      'limits',
      'measure',
      'money',
      'price',
      'schedule',
    ],
    ...['scenario', 'store/import', 'tokens', 'report/usage', 'user'],
  ),
  pages: [...filesOf('report/!(usage)'), 'test/report/*.test.ts'],
  service: filesOf('service'),
  commands: filesOf('cli', 'docs', 'e2e'),
  portal: filesOf('portal'),
  sent: filesOf('client', 'run', 'probe'),
  stored: [...filesOf('exporter', 'otlp', 'store/!(import)'), 'test/store/*.test.ts'],
}
/** Files that replace a module or a clock for their whole process, or whose children run without a file to open. */
const alone = [
  'test/cli/open-files.test.ts',
  'test/portal/alert-journal.test.ts',
  'test/portal/every-endpoint.test.ts',
  'test/portal/mutants.test.ts',
  'test/run/pacing.test.ts',
]

/** Tests import fast-check with a report of at most 40 lines. */
export const fastCheck = { find: /^fast-check$/, replacement: fileOf('test/fast-check.ts') }

export default defineConfig({
  // The examples of the documents import the package by its name.
  resolve: {
    alias: [
      { find: /^assay$/, replacement: fileOf('src/index.ts') },
      fastCheck,
      { find: /^.*\/user\/thread-file\.ts$/, replacement: fileOf('test/built-threads.ts') },
    ],
  },
  test: {
    pool: 'forks',
    // More than the cores: real processes and sockets spend most of their time waiting.
    maxWorkers: 3,
    reporters: ['default'],
    // The difference of two large values says where they differ, not all of both.
    diff: { truncateThreshold: 20 },
    // `npm test` runs the tests without this tag: each room, rule, format, command and page once.
    tags: [
      {
        name: 'whole',
        description: 'variants, matrices, browsers in every width, long properties',
      },
    ],
    projects: [
      {
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [timing, ...Object.values(sharing).flat(), '**/node_modules/**'],
          globalSetup: ['test/built.ts', 'test/foreign/installed.ts'],
          sequence: { groupOrder: 0 },
          ...patience,
        },
      },
      {
        test: {
          name: 'alone',
          include: alone,
          globalSetup: 'test/built.ts',
          sequence: { groupOrder: 0 },
          ...patience,
        },
      },
      ...Object.entries(sharing).map(([name, include]) => ({
        test: {
          name,
          include,
          exclude: [timing, ...alone],
          globalSetup: ['test/built.ts', 'test/foreign/installed.ts'],
          isolate: false,
          sequence: { groupOrder: 0 },
          ...patience,
        },
      })),
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
