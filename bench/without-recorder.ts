/**
 * Preloaded (`node --import`) into a run that is to record nothing: the recorder's thread becomes one
 * that only gives buffers back. What the run then saves is what recording costs.
 */
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier.endsWith('/recorder.worker.ts')
        ? new URL('./no-recorder.worker.ts', import.meta.url).href
        : specifier,
      context,
    ),
})
