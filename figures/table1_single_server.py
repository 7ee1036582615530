"""Table 1: which single-server policies have an optimal response time tail (Sections 1.2 and 2.3).

Every entry says where it comes from. "Consequence" is the paper's reading of Wierman and Zwart (2012):
no policy is weakly optimal for heavy-tailed and for light-tailed sizes, so optimality in one column
excludes the other.
"""

from tailsched.files import write_csv, write_text
from tailsched.plotting.tables import markdown_table, output_parser

COLUMNS = ("policy", "heavy_tailed", "heavy_tailed_source", "light_tailed", "light_tailed_source")
HEADER = ("Policy", "Heavy-tailed sizes", "Source", "Light-tailed sizes", "Source")

STRONG = "strongly optimal"
NOT = "not weakly optimal"
UNKNOWN = "not stated"

_EXCLUDED = "consequence of Wierman and Zwart (2012) and the other column"
_JOINT = (
    "Section 1.2, citing for SRPT, PS, FB and SMART together: Nuyens et al. (2008), Borst et al. (2006), "
    "Guillemin et al. (2004), Boxma and Zwart (2007), Scully and van Kreveld (2025)"
)

ROWS = (
    (
        "FCFS",
        NOT,
        "Section 2.2: tail index -(alpha-1), Boxma and Zwart (2007), Borst et al. (2003)",
        "weakly, not strongly, optimal",
        "Sections 1.2, 2.3: Boxma and Zwart (2007); Grosof et al. (2021)",
    ),
    (
        "PS",
        STRONG,
        "Section 1.2: Borst et al. (2006), Guillemin et al. (2004)",
        NOT,
        _EXCLUDED,
    ),
    (
        "SRPT",
        STRONG,
        "Sections 1.2, 1.4: Nuyens et al. (2008)",
        NOT + " (worst decay rate)",
        "Sections 1.2, 2.2: Nuyens and Zwart (2006)",
    ),
    ("FB", STRONG, _JOINT, NOT, _EXCLUDED),
    ("SMART", STRONG, _JOINT, NOT, _EXCLUDED),
    (
        "Nudge",
        NOT,
        _EXCLUDED,
        "weakly optimal (stochastically better than FCFS); strong optimality " + UNKNOWN,
        "Section 2.3: Grosof et al. (2021); improved variants: Van Houdt (2022), "
        "Charlet and Van Houdt (2024)",
    ),
    (
        "Boost",
        "not defined",
        "Section 7: defined for light-tailed sizes only",
        STRONG,
        "Sections 1.2, 2.3: Yu and Scully (2024)",
    ),
    (
        "Gittins-based policy, sizes unknown",
        UNKNOWN,
        "",
        STRONG,
        "Section 2.3: Harlev et al. (2025)",
    ),
)


def main(arguments=None):
    """Write the table: ``-o OUT`` gives OUT.csv and OUT.md."""
    output = output_parser(__doc__, ("csv", "md")).parse_args(arguments).output
    write_csv(f"{output}.csv", COLUMNS, ROWS)
    title = "# Table 1. Tail optimality in the M/G/1\n\n"
    note = (
        "\nStrongly optimal: the tail over the best possible tail tends to 1; weakly optimal: the ratio "
        "stays bounded. Section numbers are those of the paper.\n"
    )
    write_text(f"{output}.md", title + markdown_table(HEADER, ROWS) + note)


if __name__ == "__main__":
    main()
