import type { Step } from './steps.ts'

/**
 * The model for which a request of a step asks: a field of its body goes before all else.
 *
 * @param model the model unless the body names one; that of a line of a trace, or of the step
 */
export const askedModel = ({ body }: Step, model: string | null): string | null =>
  typeof body.model === 'string' ? body.model : model
