"""Queries to an AWS account about the instance types of its regions; the only module that uses boto3."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gpupool.catalogue import price_list
from gpupool.catalogue.answers import RegionAnswers
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


def query_account(regions: Sequence[str], profile: str | None) -> list[RegionAnswers]:
    """Query each region, or that of the profile or the environment.

    Raises:
        UsageError: without boto3, for a profile that does not exist, or without a region.
        AccountError: if AWS can't be reached or denies a request, other than for prices.
    """
    session = _open_session(profile)
    selected = list(dict.fromkeys(regions)) or ([session.region_name] if session.region_name else [])
    if not selected:
        message = "no region is set; pass --region"
        raise UsageError(message)
    return [_query_region(session, region) for region in selected]


def _open_session(profile: str | None) -> Any:
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


def _open_client(session: Any, service: str, region: str) -> Any:
    from botocore.config import Config

    config = Config(connect_timeout=_SECONDS_TO_CONNECT, user_agent_extra="gpupool")
    return session.client(service, region_name=region, config=config)


def _query_region(session: Any, region: str) -> RegionAnswers:
    with _convert_errors(f"{region}: "):
        ec2 = _open_client(session, "ec2", region)
        described = ec2.describe_availability_zones()["AvailabilityZones"]
        zones = tuple(sorted(Zone(zone["ZoneName"], zone["ZoneId"]) for zone in described))
        items = [item for item in _query_types(ec2) if is_considered(item)]
        offers = _query_offers(ec2)
    prices, price_error = _query_prices(session, region)
    return RegionAnswers(region, zones, items, offers, prices, price_error)


def _query_types(ec2: Any) -> Iterator[dict[str, Any]]:
    """Yield the instance types, with the same filters as Karpenter."""
    filters = [
        {"Name": "supported-virtualization-type", "Values": [VIRTUALIZATION]},
        {"Name": "processor-info.supported-architecture", "Values": list(ARCHITECTURES)},
    ]
    for page in ec2.get_paginator("describe_instance_types").paginate(Filters=filters):
        yield from page["InstanceTypes"]


def _query_offers(ec2: Any) -> dict[str, list[str]]:
    zones_by_type = defaultdict(list)
    pages = ec2.get_paginator("describe_instance_type_offerings").paginate(LocationType="availability-zone")
    for offering in (item for page in pages for item in page["InstanceTypeOfferings"]):
        zones_by_type[offering["InstanceType"]].append(offering["Location"])
    return dict(zones_by_type)


def _query_prices(session: Any, region: str) -> tuple[dict[str, float] | None, str]:
    if region.startswith(price_list.GOVERNMENT):
        return None, "AWS has no price list for GovCloud"
    try:
        with _convert_errors(""):
            client = _open_client(session, "pricing", price_list.find_list_region(region))
            prices = price_list.read_prices(_query_price_list(client, region), region)
    except (AccountError, ValueError) as problem:
        return None, str(problem)
    return (prices, "") if prices else (None, "AWS's price list has no prices for this region")


def _query_price_list(client: Any, region: str) -> Iterator[str]:
    for filters in price_list.build_filters(region):
        paginator = client.get_paginator("get_products")
        for page in paginator.paginate(ServiceCode=price_list.SERVICE, Filters=filters):
            yield from page["PriceList"]


@contextmanager
def _convert_errors(prefix: str) -> Iterator[None]:
    """Convert boto3's exceptions to errors that say what to do."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as problem:
        reason = (
            _describe_rejection(problem) if isinstance(problem, ClientError) else _describe_failure(problem)
        )
        message = f"{prefix}{reason}"
        raise AccountError(message) from None


def _describe_rejection(problem: Any) -> str:
    code, operation = problem.response["Error"].get("Code", ""), problem.operation_name
    if code in _DENIED:
        return f"AWS denied {operation} ({code}); allow it in the account's policy"
    if code in _INVALID:
        return f"AWS rejected the credentials ({code}), or the region is not enabled for the account"
    if code in _BUSY:
        return f"AWS throttled the requests ({code}); try again later"
    return f"AWS rejected {operation}: {_shorten(problem)}"


def _describe_failure(problem: Exception) -> str:
    from botocore.exceptions import NoCredentialsError

    if isinstance(problem, NoCredentialsError):
        return "no AWS credentials found; log in, or pass --profile"
    return f"request to AWS failed: {_shorten(problem)}"


def _shorten(problem: Exception) -> str:
    first = (str(problem).splitlines() or [""])[0]
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"
