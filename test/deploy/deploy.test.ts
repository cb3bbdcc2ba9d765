import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

const deploy = resolve(import.meta.dirname, '../../deploy')
const text = (name: string) => readFileSync(resolve(deploy, name), 'utf8')

const manifestsOf = (yaml: string) => parseAllDocuments(yaml).map((each) => each.toJS())

/**
 * Checks manifests against the types of the Kubernetes API, made from its OpenAPI document: an
 * unknown field, a missing field or a wrong type is an error of the compiler.
 */
function faultsOf(documents: readonly { apiVersion: string; kind: string }[]): string {
  const require = createRequire(import.meta.url)
  const types = dirname(require.resolve('kubernetes-types/package.json'))
  const folder = mkdtempSync(join(tmpdir(), 'assay-manifests-'))
  const lines = documents.map((document, at) => {
    const version = document.apiVersion.includes('/') ? document.apiVersion : 'core/v1'
    const type = `import(${JSON.stringify(join(types, version))}).${document.kind}`
    return `export const manifest${at}: ${type} = ${JSON.stringify(document)}`
  })
  writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'))
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '--noEmit', '--strict', 'manifests.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  rmSync(folder, { recursive: true })
  return stdout
}

test('the manifests match the Kubernetes API, and no shard runs twice', { tags: 'whole' }, () => {
  const [files, shards] = manifestsOf(text('kubernetes/shards.yaml'))
  const [merge] = manifestsOf(text('kubernetes/merge.yaml'))
  expect(faultsOf([files, shards, merge])).toBe('')
  const { spec } = shards
  const { env } = spec.template.spec.containers[0]
  expect(spec).toMatchObject({ completionMode: 'Indexed', backoffLimitPerIndex: 0 })
  expect(spec.template.spec.restartPolicy).toBe('Never')
  expect([
    spec.parallelism,
    env.find(({ name }: { name: string }) => name === 'SHARDS').value,
  ]).toEqual([spec.completions, String(spec.completions)])
  expect([merge.spec.backoffLimit, merge.spec.template.spec.restartPolicy]).toEqual([0, 'Never'])
})

test('a manifest with an unknown field, a missing field or a wrong type does not match the API', {
  tags: 'whole',
}, () => {
  const changes = [
    ['backoffLimit:', 'backoffLimits:'],
    ['- name: assay', '- named: assay'],
    ['runAsUser: 1000', 'runAsUser: root'],
    ['claimName:', 'claim:'],
  ] as const
  const merge = text('kubernetes/merge.yaml')
  const faults = faultsOf(changes.flatMap(([from, to]) => manifestsOf(merge.replace(from, to))))
  expect([...faults.matchAll(/^manifests\.ts\((\d+),/gm)].map(([, line]) => line)).toEqual([
    '1',
    '2',
    '3',
    '4',
  ])
})

test('the GitHub workflow runs a shard for each index of its matrix, and merges even if one failed', () => {
  const { jobs } = parse(text('github/load.yml'))
  const { index } = jobs.shard.strategy.matrix
  const command = jobs.shard.steps.find(({ run = '' }) => run.includes('assay run')).run
  expect(index).toEqual([0, 1, 2, 3])
  expect(command).toContain(`/${index.length} `)
  expect([jobs.shard.strategy['fail-fast'], jobs.merge.if]).toEqual([false, 'always()'])
  const gate = parse(text('github/gate/action.yml'))
  expect(gate.runs.using).toBe('composite')
  expect(gate.runs.steps[0].run).toMatch(/GITHUB_STEP_SUMMARY[\s\S]*exit \$code/)
})

test('every deployment file agrees to the cost with --yes', () => {
  for (const name of ['kubernetes/shards.yaml', 'slurm/shard.sbatch', 'github/load.yml']) {
    expect(text(name)).toMatch(/--yes/)
  }
})
