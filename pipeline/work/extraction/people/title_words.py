"""The words that surround names in minutes: titles, offices, and what is never part of a name."""

_TITLES = """
mayor mayor's vice pro tem tempore protem deputy acting interim student council councilmember
councilmembers councilman councilmen councilwoman councilwomen councilperson councilpersons councilor
councilors councillor councillors member members alderman aldermen alderwoman alderwomen alderperson
alderpersons ald alder commissioner commissioners comm trustee trustees supervisor supervisors director
directors chair chairman chairwoman chairperson vice-chair vice-chairman vice-chairwoman
vice-chairperson vice- vice-president co-chair president selectman selectmen selectwoman selectperson
selectboard mr mrs ms miss mx dr hon honorable rev reverend prof professor clerk treasurer secretary
judge representative rep senator sen assemblyman assemblywoman delegate freeholder freeholders
commissioner-elect elect board committee cm cmr cllr alternate sgt capt lt burgess reeve warden justice
squire esquire esq panel panelist panelists ex-officio officio emeritus parliamentarian cmdr commander
sergeant mayor-elect vice-mayor messrs mesdames mmes misses mses drs reps sens boardmember boardmembers
assemblymember assemblymembers assemblymen assemblywomen legislator legislators delegates regent regents
selectwomen selectpersons selectboardmember chairs chairmen chairpersons vice-chairs co-chairs presidents
vice-presidents mayors alders aldermembers committeeman committeewoman committeemember committeemembers
committeemen overseer overseers tern vice-chairpersons co-president councilpeople governors cmrs commr
"""
_NOT_NAMES = """
a an the and or but of to for from by with at in on upon after before during following when while then
there this that these those it he she they we i you his her their its all any none no not yes aye ayes
nay nays noes yea yeas motion motions moved mover second seconded seconder supported support vote votes
voted voting voice roll call carried passed failed approved adopted result action item items discussion
question public hearing comment comments minutes agenda consent calendar resolution resolutions
ordinance ordinances city town village county borough township district commission planning zoning staff
department meeting regular special session adjourn adjourned adjournment present absent excused abstain
abstained abstention abstaining opposed dissenting unanimous unanimously quorum attendance also other
others be is was were been being as so if who which whom section chapter street avenue road january
february march july september october november december monday tuesday wednesday thursday friday
saturday sunday manager attorney engineer planner chief sheriff administrator superintendent unknown via
zoom remotely virtual virtually late arrived left made offered tabled continued page amended amendment
substitute further new old business report reports flag salute pledge allegiance invocation prayer oath
proclamations announcements presentations introductions approval approve recess introduced presented
same seeing having duly recused n/a am pm a.m p.m opening closing remarks citizen citizens
communications correspondence unfinished update
"""
TITLES = frozenset(_TITLES.split())
# Words with a capital that begin or end a name's surroundings and never belong to it.
NOT_NAMES = frozenset(_NOT_NAMES.split())
# A title that is said with every name.
ADDRESSED = frozenset(
    (
        "alderman",
        "alderwoman",
        "alderperson",
        "councilman",
        "councilwoman",
        "councilmember",
        "commissioner",
        "trustee",
    )
)
_OFFICES = """
accountant administrator assessor assistant associate attorney auditor captain chief city community
comptroller consultant controller coordinator counsel county development engineer executive finance fire
general human legal liaison lieutenant manager officer park parks planner planning police project public
recorder recreation resources senior sheriff solicitor superintendent supervisor technician town
utilities village water works
"""
# What stands before the name of somebody on the staff.
OFFICES = frozenset(_OFFICES.split())
# Alone in a list these are somebody's name.
SURNAMES = frozenset(("park", "parks"))
_PARTICLES = "de la las los del della da das dos di du van von der den ter ten el al bin ibn y e"
PARTICLES = frozenset(_PARTICLES.split())
_SUFFIXES = "jr sr ii iii iv esq ph.d phd m.d md j.d jd ed.d edd p.e pe cpa aicp cmc mmc"
SUFFIXES = frozenset(_SUFFIXES.split())
ABBREVIATIONS = frozenset(("st", "wm", "geo", "chas", "thos", "jas", "jos", "jr", "sr", "mt", "ste"))
