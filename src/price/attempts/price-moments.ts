import type { ModelPrice } from '../../contract/prices.ts'
import { minuteMs, secondMs } from '../../user/durations.ts'

/** The longest step of time in which no price changes: hours begin with a minute, a change with any millisecond. */
export const priceStepMs = (models: readonly Pick<ModelPrice, 'changes'>[]): number =>
  [minuteMs, secondMs].find((step) =>
    models.every(({ changes }) => changes.every(({ fromMs }) => fromMs % step === 0)),
  ) ?? 1

/** When the step of an attempt began, in UTC milliseconds, as SQL over `attempts` and `runs`. */
export const priceMomentSql = (models: readonly Pick<ModelPrice, 'changes'>[]): string => {
  const stepMs = priceStepMs(models)
  return `(epoch_us(started_at) + (attempts.sent_us * time_scale)::BIGINT) // ${stepMs * 1000} * ${stepMs}`
}
