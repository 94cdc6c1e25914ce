import type { Catalog, CatalogView } from '@toolyard/catalog/create-catalog'
import { AppError } from '@toolyard/contract/errors'
import { refuseSubmission } from '@toolyard/invocations/refuse-submission'
import type { Submission, Submitted } from '@toolyard/invocations/submission'
import type { Submitter } from '@toolyard/invocations/submitter'

export type SubmitDeps = { catalog: Catalog; submitter: Submitter }

export type Accepted = Extract<Submitted, { kind: 'accepted' }>

export type SubmittedCall = {
  tool: string
  /** As it can be stored, judged by these tools; rejects with the refusal of what could not run. */
  prepare: (view: CatalogView) => Promise<Submission>
  /**
   * What the same call has made earlier, for one that is refused now: the tool may have changed or gone since, and the
   * same request is the same invocation all the same.
   */
  findEarlier: () => Promise<Accepted | undefined>
}

/** By the tools as this process knows them, which costs no question; again where they have changed since. */
export async function submitCall(deps: SubmitDeps, call: SubmittedCall): Promise<Accepted> {
  for (let view = await deps.catalog.latest(); ;) {
    const answer = await submitBy(view, deps.submitter, call)
    if (!('refusal' in answer)) return answer
    const now = await deps.catalog.view()
    if (now === view) return (await call.findEarlier()) ?? Promise.reject(answer.refusal)
    view = now
  }
}

async function submitBy(view: CatalogView, submitter: Submitter, { tool, prepare }: SubmittedCall) {
  const submission = await prepare(view).catch((refusal: unknown) => {
    if (refusal instanceof AppError) return { refusal }
    throw refusal
  })
  if ('refusal' in submission) return submission
  const submitted = await submitter.submit(submission)
  return submitted.kind === 'accepted' ? submitted : { refusal: refuseSubmission(submitted, tool) }
}
