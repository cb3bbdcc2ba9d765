import { defineConfig } from 'vitest/config'
import { fastCheck } from '../../vitest.config.ts'

export default defineConfig({
  resolve: { alias: [fastCheck] },
  test: { include: ['test/failing/properties.ts'], diff: { truncateThreshold: 20 } },
})
