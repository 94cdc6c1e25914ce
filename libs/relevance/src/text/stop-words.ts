/** Words that say nothing of what is asked for: function words of English, and how people ask for help. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about above after again against all am an and any are aren as at be because been before being below between both but by
  can cannot could couldn d did didn do does doesn doing don down during each few for from further get give had hadn has hasn
  have haven having he help her here hers herself him himself his how i if in into is isn it its itself just let like ll looking m
  me more most my myself need no nor not now of off on once only or other our ours ourselves out over own please provide re
  s same she should shouldn so some such t than that the their theirs them themselves then there these they this those
  through to too under until up us use using ve very want was wasn we were weren what when where which while who whom why
  will with won would wouldn you your yours yourself yourselves`.split(/\s+/),
)
