"""Ask an AWS account about the instance types of its regions: the one place that uses boto3."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gpupool.catalogue import price_list
from gpupool.catalogue.answers import Answers
from gpupool.catalogue.describe import ARCHITECTURES, VIRTUALIZATION, is_considered
from gpupool.catalogue.model import Zone
from gpupool.errors import AccountError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SECONDS_TO_CONNECT = 10
_DENIED = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation")
_INVALID = ("AuthFailure", "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "RequestExpired",
            "SignatureDoesNotMatch", "UnrecognizedClientException")  # fmt: skip
_BUSY = ("RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException")
_LONGEST = 200


def ask(regions: Sequence[str], profile: str | None) -> list[Answers]:
    """Ask about each region, or about that of the profile or the environment.

    Raises:
        UsageError: without boto3, for a profile that there is not, or without a region.
        AccountError: where AWS can't be reached or refuses; prices it may refuse.
    """
    session = _session(profile)
    wanted = list(dict.fromkeys(regions)) or ([session.region_name] if session.region_name else [])
    if not wanted:
        message = "no region is set; pass --region"
        raise UsageError(message)
    return [_region(session, region) for region in wanted]


def _session(profile: str | None) -> Any:
    try:
        import boto3
        from botocore.exceptions import ProfileNotFound
    except ImportError:
        message = "boto3 is not installed; run `pip install boto3` or `pipx inject gpupool boto3`"
        raise UsageError(message) from None
    try:
        return boto3.Session(profile_name=profile)
    except ProfileNotFound as problem:
        message = f"{problem}; `aws configure list-profiles` lists the existing ones"
        raise UsageError(message) from None


def _client(session: Any, service: str, region: str) -> Any:
    from botocore.config import Config

    config = Config(connect_timeout=_SECONDS_TO_CONNECT, user_agent_extra="gpupool")
    return session.client(service, region_name=region, config=config)


def _region(session: Any, region: str) -> Answers:
    with _refusals(f"{region}: "):
        ec2 = _client(session, "ec2", region)
        described = ec2.describe_availability_zones()["AvailabilityZones"]
        zones = tuple(sorted(Zone(each["ZoneName"], each["ZoneId"]) for each in described))
        items = [item for item in _items(ec2) if is_considered(item)]
        offers = _offers(ec2)
    prices, refusal = _prices(session, region)
    return Answers(region, zones, items, offers, prices, refusal)


def _items(ec2: Any) -> Iterator[dict[str, Any]]:
    """Ask with the filters that Karpenter uses."""
    filters = [
        {"Name": "supported-virtualization-type", "Values": [VIRTUALIZATION]},
        {"Name": "processor-info.supported-architecture", "Values": list(ARCHITECTURES)},
    ]
    for page in ec2.get_paginator("describe_instance_types").paginate(Filters=filters):
        yield from page["InstanceTypes"]


def _offers(ec2: Any) -> dict[str, list[str]]:
    found = defaultdict(list)
    pages = ec2.get_paginator("describe_instance_type_offerings").paginate(LocationType="availability-zone")
    for offering in (each for page in pages for each in page["InstanceTypeOfferings"]):
        found[offering["InstanceType"]].append(offering["Location"])
    return dict(found)


def _prices(session: Any, region: str) -> tuple[dict[str, float] | None, str]:
    if region.startswith(price_list.GOVERNMENT):
        return None, "AWS has no price list for GovCloud"
    try:
        with _refusals(""):
            client = _client(session, "pricing", price_list.place(region))
            found = price_list.amounts(_entries(client, region), region)
    except (AccountError, ValueError) as problem:
        return None, str(problem)
    return (found, "") if found else (None, "AWS's price list has no prices for this region")


def _entries(client: Any, region: str) -> Iterator[str]:
    for filters in price_list.questions(region):
        paginator = client.get_paginator("get_products")
        for page in paginator.paginate(ServiceCode=price_list.SERVICE, Filters=filters):
            yield from page["PriceList"]


@contextmanager
def _refusals(where: str) -> Iterator[None]:
    """Turn what boto3 raises into an error that says what to do."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as problem:
        said = _refused(problem) if isinstance(problem, ClientError) else _unreached(problem)
        message = f"{where}{said}"
        raise AccountError(message) from None


def _refused(problem: Any) -> str:
    code, operation = problem.response["Error"].get("Code", ""), problem.operation_name
    if code in _DENIED:
        return f"AWS denied {operation} ({code}); allow it in the account's policy"
    if code in _INVALID:
        return f"AWS rejected the credentials ({code}), or the region is not enabled for the account"
    if code in _BUSY:
        return f"AWS throttled the requests ({code}); try again later"
    return f"AWS rejected {operation}: {_short(problem)}"


def _unreached(problem: Exception) -> str:
    from botocore.exceptions import NoCredentialsError

    if isinstance(problem, NoCredentialsError):
        return "no AWS credentials found; log in, or pass --profile"
    return f"request to AWS failed: {_short(problem)}"


def _short(problem: Exception) -> str:
    first = (str(problem).splitlines() or [""])[0]
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"
