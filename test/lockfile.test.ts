import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Lock {
  packages: Record<
    string,
    {
      version?: string
      resolved?: string
      optionalDependencies?: Record<string, string>
    }
  >
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock

test('the lockfile names no host of a registry, so it installs from whichever is reached', () => {
  const withHost = Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined)
  expect(withHost.map(([path]) => path)).toEqual([])
})

test('every platform package that a dependency lists stands in the lockfile', () => {
  const missing = Object.values(lock.packages).flatMap((entry) =>
    Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !Object.keys(lock.packages).some((path) => path.endsWith(`node_modules/${name}`)),
    ),
  )
  expect(missing).toEqual([])
})

test('dependencies are pinned exactly', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const all = { ...manifest.dependencies, ...manifest.devDependencies }
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))).toEqual([])
})
