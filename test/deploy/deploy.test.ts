import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

const deploy = resolve(import.meta.dirname, '../../deploy')
const text = (name: string) => readFileSync(resolve(deploy, name), 'utf8')

/**
 * What these manifests use of batch/v1 Job and core/v1 PersistentVolumeClaim, written by hand after the
 * reference of Kubernetes 1.33, and not copied from its schema: any other field is an error.
 */
const meta = z.strictObject({ name: z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/) })
const count = z.int().min(0)
const variable = z.strictObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .strictObject({ secretKeyRef: z.strictObject({ name: z.string(), key: z.string() }) })
    .optional(),
})
const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()).optional(),
  args: z.array(z.string()).optional(),
  env: z.array(variable).optional(),
  resources: z
    .strictObject({
      requests: z.record(z.string(), z.string()),
      limits: z.record(z.string(), z.string()),
    })
    .optional(),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string() })),
})
const volume = z.strictObject({
  name: z.string(),
  persistentVolumeClaim: z.strictObject({ claimName: z.string() }).optional(),
  configMap: z.strictObject({ name: z.string() }).optional(),
})
const job = z.strictObject({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('Job'),
  metadata: meta,
  spec: z.strictObject({
    completionMode: z.enum(['Indexed', 'NonIndexed']).optional(),
    completions: count.optional(),
    parallelism: count.optional(),
    backoffLimit: count.optional(),
    backoffLimitPerIndex: count.optional(),
    maxFailedIndexes: count.optional(),
    template: z.strictObject({
      spec: z.strictObject({
        restartPolicy: z.enum(['Never', 'OnFailure']),
        securityContext: z.strictObject({
          runAsNonRoot: z.boolean(),
          runAsUser: count,
          fsGroup: count,
        }),
        containers: z.array(container).min(1),
        volumes: z.array(volume),
      }),
    }),
  }),
})
const claim = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('PersistentVolumeClaim'),
  metadata: meta,
  spec: z.strictObject({
    accessModes: z.array(z.enum(['ReadWriteOnce', 'ReadWriteMany'])),
    resources: z.strictObject({ requests: z.strictObject({ storage: z.string() }) }),
  }),
})

test('the manifests of Kubernetes have only fields that we know, and no shard runs twice', () => {
  const [files, shards] = parseAllDocuments(text('kubernetes/shards.yaml')).map((each) =>
    each.toJS(),
  )
  claim.parse(files)
  const { spec } = job.parse(shards)
  const env = spec.template.spec.containers[0]!.env!
  expect(spec).toMatchObject({ completionMode: 'Indexed', backoffLimitPerIndex: 0 })
  expect(spec.template.spec.restartPolicy).toBe('Never')
  expect([spec.parallelism, env.find(({ name }) => name === 'SHARDS')!.value]).toEqual([
    spec.completions,
    String(spec.completions),
  ])
  const merge = job.parse(parse(text('kubernetes/merge.yaml'))).spec
  expect([merge.backoffLimit, merge.template.spec.restartPolicy]).toEqual([0, 'Never'])
})

test('the workflow of GitHub sends as many shards as its matrix has, and merges when one failed', () => {
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
