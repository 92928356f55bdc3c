"""Minutes and agendas in the shapes that the tests of the records read."""

ROLL = """MINUTES OF THE CITY COUNCIL
January 15, 2024
Roll Call
Present: Ann Lee, Bob Ruiz, Cara Stone
Absent: Dan Moss
"""
MOTIONS = """Motion by Lee, seconded by Ruiz, to adopt Ordinance No. 2024-07 amending the zoning map.
Ayes: Lee, Ruiz
Noes: Stone
Absent: Moss
Motion carried.

Motion by Stone, seconded by Ruiz, to award a contract for $125,000.00 to repair
the bridge at 100 Main Street.
Ayes: Lee, Ruiz, Stone
Motion passed 4-0.
"""
AGENDA = """CITY COUNCIL AGENDA
January 15, 2024
1. CALL TO ORDER
2. Ordinance No. 2024-07 amending the zoning map
3. ADJOURNMENT
"""
