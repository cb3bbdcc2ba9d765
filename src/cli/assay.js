#!/usr/bin/env node
// The command, in JavaScript that any Node can run: an old Node prints a sentence instead of a stack.
import { existsSync, readFileSync } from 'node:fs'
import * as module from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const needed = engines.node.replace('>=', '')
const [major, minor] = process.versions.node.split('.').map(Number)
const [neededMajor, neededMinor] = needed.split('.').map(Number)
if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  process.stderr.write(`assay needs Node ${needed} or newer, this is ${major}.${minor}.\n`)
  process.exitCode = 2
} else {
  // Compiled code is cached, also for the threads: it saves a third of the start time.
  process.env.NODE_COMPILE_CACHE ||= join(tmpdir(), 'node-compile-cache')
  module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE)
  const source = new URL('main.ts', import.meta.url)
  // A checkout runs its sources, the package runs its build.
  await import(existsSync(source) ? source : new URL('../../dist/cli/main.js', import.meta.url))
}
