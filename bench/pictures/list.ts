import type { SceneName } from './scenes.ts'

/** A picture of README and docs. `node bench/pictures/main.ts` makes each of them anew. */
export interface Picture {
  /** In `docs/images`. */
  readonly file: string
  readonly scene: SceneName
  readonly widthPx: number
  /** Of the first screen; the whole page is as long as it is. */
  readonly heightPx: number | 'whole'
  readonly isDark?: boolean
}

const desk = { widthPx: 1440, heightPx: 900 } as const
const phone = { widthPx: 375, heightPx: 1600, isDark: true } as const

export const pictures: readonly Picture[] = [
  { file: 'report-launch-first-screen.png', scene: 'search', ...desk },
  { file: 'report-launch-1440-light.png', scene: 'search', ...desk, heightPx: 1266 },
  { file: 'report-audit-1440-light.png', scene: 'audit', ...desk },
  { file: 'report-audit-375-dark.png', scene: 'audit', ...phone },
  { file: 'report-compare-first-screen.png', scene: 'compare', ...desk },
  { file: 'report-usage-first-screen.png', scene: 'usage', ...desk },
  { file: 'report-usage-1440-light.png', scene: 'usage', ...desk, heightPx: 1820 },
  { file: 'report-usage-1440-dark.png', scene: 'usage', ...desk, heightPx: 1820, isDark: true },
  { file: 'report-usage-375-dark.png', scene: 'usage', ...phone },
  { file: 'live-run-1440-light.png', scene: 'live', ...desk },
  { file: 'usage-serve-1440-light.png', scene: 'customers', ...desk, heightPx: 'whole' },
  { file: 'usage-serve-375-dark.png', scene: 'customers', ...phone },
  { file: 'service-dashboard-1440-light.png', scene: 'dashboard', ...desk, heightPx: 'whole' },
  { file: 'service-my-credits-1440-light.png', scene: 'my-credits', ...desk, heightPx: 1250 },
  { file: 'service-my-credits-375-dark.png', scene: 'my-credits', ...phone },
  { file: 'soak-1-hour.png', scene: 'soak', widthPx: 720, heightPx: 240 },
]
