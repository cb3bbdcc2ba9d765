import { expect, test } from 'vitest'
import { missingParts, unknownClocks } from '../../src/audit/runs.ts'
import { openStore } from '../store/opened.ts'

test('of a run that was merged and not judged, the parts in the store say which are missing', async () => {
  const store = await openStore(':memory:')
  await store.execute(`
    INSERT INTO runs BY NAME SELECT 'r' AS run_id, 'run' AS kind, 's' AS scenario, '{"threads": 1}' AS scenario_json, 1 AS seed,
      'http://h' AS base_url, 'svc' AS contract, '2026-11-01'::TIMESTAMP AS started_at, 1.0 AS time_scale, '0' AS assay_version, '{}' AS machine_json;
    INSERT INTO run_shards BY NAME SELECT 'r' AS run_id, shard, 3 AS shards, 'x' AS attempt, 'h' AS plan_hash,
      '2026-11-01'::TIMESTAMP AS began_at, '{}' AS machine_json FROM (VALUES (0), (1)) AS parts(shard)`)
  expect(await missingParts(store, ['r'])).toEqual([{ runId: 'r', of: 3, present: 2 }])
  expect(await unknownClocks(store, ['r'])).toEqual([])
  await store.execute(`UPDATE runs SET attempt_counts_json = '{"parts": {"of": 3, "present": 3}}'`)
  expect(await missingParts(store, ['r'])).toEqual([])
  store.close()
})
